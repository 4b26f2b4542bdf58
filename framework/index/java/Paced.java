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
import org.apache.hudi.common.model.HoodieRecordDelegate;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.index.hbase.SparkHoodieHBaseIndex;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.api.java.function.FlatMapFunction;

/**
 * Hudi's HBase index at the pipeline's rate. Hudi limits each task by itself, anew: one file group's entries are put by one
 * task at one task's part, and many small tasks are hardly limited at all. Here the tasks of a JVM draw from one allowance,
 * record by record as Hudi's own code takes them; its limits are set so high that they never bind. No lambdas: Janino.
 */
public class Paced extends SparkHoodieHBaseIndex {
  private static final Map NEXT = new HashMap();

  private final String table;
  private final double perSecond;

  public Paced(HoodieWriteConfig config) {
    super(config);
    table = config.getHbaseTableName();
    perSecond = Double.parseDouble(config.getProps().getProperty("hoodie.freshet.index.rate"));
  }

  public HoodieData tagLocation(HoodieData records, HoodieEngineContext context, HoodieTable hoodieTable) {
    return super.tagLocation(
        HoodieJavaRDD.of(HoodieJavaRDD.getJavaRDD(records).mapPartitions(new Each(table, perSecond, false), true)),
        context, hoodieTable);
  }

  public HoodieData updateLocation(HoodieData statuses, HoodieEngineContext context, HoodieTable hoodieTable) {
    return super.updateLocation(
        HoodieJavaRDD.of(HoodieJavaRDD.getJavaRDD(statuses).mapPartitions(new Each(table, perSecond, true), true)),
        context, hoodieTable);
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
