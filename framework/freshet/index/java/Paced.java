package freshet.index;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.model.EmptyHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieRecordDelegate;
import org.apache.hudi.common.model.HoodieRecordGlobalLocation;
import org.apache.hudi.common.model.HoodieRecordLocation;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.exception.HoodieIndexException;
import org.apache.hudi.index.hbase.SparkHoodieHBaseIndex;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.api.java.function.Function;

/**
 * Hudi's HBase index at the pipeline's rate. Hudi limits each task by itself, anew: one file group's entries are put by one
 * task at one task's part, and many small tasks are hardly limited at all. Here the tasks of a JVM draw from one allowance,
 * record by record as Hudi's own code takes them; its limits are set so high that they never bind. No lambdas: Janino.
 */
public class Paced extends SparkHoodieHBaseIndex {
  private static final Map NEXT = new HashMap();

  static {
    // In every JVM that puts entries.
    Texts.mend();
  }

  private final String table;
  private final double perSecond;

  public Paced(HoodieWriteConfig config) {
    super(config);
    table = config.getHbaseTableName();
    perSecond = Double.parseDouble(config.getProps().getProperty("hoodie.freshet.index.rate"));
  }

  /**
   * New rows begin with a base file. A row that comes back to a partition that it had left would else be written to the log
   * that holds its delete, whose ordering value is of another type: Hudi 1.0.2 then reads neither (ClassCastException).
   */
  public boolean canIndexLogFiles() {
    return false;
  }

  /**
   * Looks the records' keys up. Of one that lies in another partition Hudi's own code writes the new row and deletes the old
   * one unseen, so that an older row that comes late would win: these few are merged first (Moves).
   */
  public HoodieData tagLocation(HoodieData records, HoodieEngineContext context, HoodieTable hoodieTable) {
    HoodieData tagged = super.tagLocation(
        HoodieJavaRDD.of(HoodieJavaRDD.getJavaRDD(records).mapPartitions(new Each(table, perSecond, false), true)),
        context, hoodieTable);
    return Moves.tagged(HoodieJavaRDD.getJavaRDD(tagged).mapPartitions(new Moved(), true), config, hoodieTable);
  }

  /** Of a key that lies in another partition, one pair of its new row and its place instead of a delete and a new row. */
  public static class Moved implements FlatMapFunction {
    public Iterator call(Object rows) throws Exception {
      return new MovedTurns((Iterator) rows);
    }
  }

  static class MovedTurns implements Iterator {
    private final Iterator rows;
    private HoodieRecord ahead;

    MovedTurns(Iterator rows) {
      this.rows = rows;
    }

    public boolean hasNext() {
      return ahead != null || rows.hasNext();
    }

    public Object next() {
      HoodieRecord record = ahead != null ? ahead : (HoodieRecord) rows.next();
      ahead = null;
      // Hudi gives the delete of the old row an empty payload, and the new row directly after it.
      if (!record.isCurrentLocationKnown() || !isEmpty(record) || !rows.hasNext()) {
        return record;
      }
      HoodieRecord following = (HoodieRecord) rows.next();
      boolean together = !following.isCurrentLocationKnown() && following.getRecordKey().equals(record.getRecordKey());
      if (!together || isEmpty(following)) {
        // A delete of which all rows are like that. Where it names another partition no row will come in place of the entry.
        if (together) {
          record.setIgnoreIndexUpdate(false);
        }
        ahead = following;
        return record;
      }
      HoodieRecordLocation place = record.getCurrentLocation();
      return Pair.of(
          following, new HoodieRecordGlobalLocation(record.getPartitionPath(), place.getInstantTime(), place.getFileId()));
    }

    private static boolean isEmpty(HoodieRecord record) {
      return record.getData() instanceof EmptyHoodieRecordPayload;
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }
  }

  public HoodieData updateLocation(HoodieData statuses, HoodieEngineContext context, HoodieTable hoodieTable) {
    HoodieData done = super.updateLocation(
        HoodieJavaRDD.of(HoodieJavaRDD.getJavaRDD(statuses).mapPartitions(new Each(table, perSecond, true), true)),
        context, hoodieTable);
    // Hudi only notes that an entry could not be put, and commits: no later run would find that row.
    List failed = HoodieJavaRDD.getJavaRDD(done).filter(new IsFailed()).take(1);
    if (!failed.isEmpty()) {
      throw new HoodieIndexException("Entries could not be put into HBase", ((WriteStatus) failed.get(0)).getGlobalError());
    }
    return done;
  }

  public static class IsFailed implements Function {
    public Object call(Object status) {
      return Boolean.valueOf(((WriteStatus) status).hasGlobalError());
    }
  }

  /** Waits until one more request of a table's allowance is due; what was not used for a tenth of a second is lost. */
  static void await(String table, double perSecond) {
    long due;
    synchronized (NEXT) {
      long now = System.nanoTime();
      Long next = (Long) NEXT.get(table);
      due = next == null ? now : Math.max(next.longValue(), now - 100000000L);
      NEXT.put(table, Long.valueOf(due + (long) (1e9 / perSecond)));
      due -= now;
    }
    if (due > 2000000L) {
      try {
        Thread.sleep(due / 1000000L);
      } catch (InterruptedException killed) {
        throw new RuntimeException(killed);
      }
    }
  }

  /** The records of a task, each looked up when its turn has come; or its write statuses, their entries put so. */
  public static class Each implements FlatMapFunction {
    private final String table;
    private final double perSecond;
    private final boolean puts;

    public Each(String table, double perSecond, boolean puts) {
      this.table = table;
      this.perSecond = perSecond;
      this.puts = puts;
    }

    public Iterator call(Object rows) throws Exception {
      return new Turns((Iterator) rows, table, perSecond, puts);
    }
  }

  static class Turns implements Iterator {
    private final Iterator rows;
    private final String table;
    private final double perSecond;
    private final boolean puts;

    Turns(Iterator rows, String table, double perSecond, boolean puts) {
      this.rows = rows;
      this.table = table;
      this.perSecond = perSecond;
      this.puts = puts;
    }

    public boolean hasNext() {
      return rows.hasNext();
    }

    public Object next() {
      Object row = rows.next();
      if (!puts) {
        await(table, perSecond);
        return row;
      }
      try {
        Field field = WriteStatus.class.getDeclaredField("writtenRecordDelegates");
        field.setAccessible(true);
        field.set(row, new Written((List) field.get(row), table, perSecond));
      } catch (Exception other) {
        throw new RuntimeException(other);
      }
      return row;
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }
  }

  /** Written records, of which those that change the index are given out at the rate, the first time they are gone through. */
  public static class Written extends ArrayList {
    private transient String table;
    private transient double perSecond;

    public Written() {
    }

    Written(Collection records, String table, double perSecond) {
      super(records);
      this.table = table;
      this.perSecond = perSecond;
    }

    public Iterator iterator() {
      Iterator all = super.iterator();
      if (table == null) {
        return all;
      }
      Iterator paced = new WrittenTurns(all, table, perSecond);
      table = null;
      return paced;
    }
  }

  static class WrittenTurns implements Iterator {
    private final Iterator records;
    private final String table;
    private final double perSecond;

    WrittenTurns(Iterator records, String table, double perSecond) {
      this.records = records;
      this.table = table;
      this.perSecond = perSecond;
    }

    public boolean hasNext() {
      return records.hasNext();
    }

    public Object next() {
      HoodieRecordDelegate record = (HoodieRecordDelegate) records.next();
      // A row that stays where it was changes no entry.
      if (!record.getNewLocation().isPresent() || !record.getCurrentLocation().isPresent()) {
        await(table, perSecond);
      }
      return record;
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }
  }
}
