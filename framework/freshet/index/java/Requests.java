package freshet.index;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hudi.org.apache.hadoop.hbase.TableName;
import org.apache.hudi.org.apache.hadoop.hbase.client.Connection;
import org.apache.hudi.org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hudi.org.apache.hadoop.hbase.client.Delete;
import org.apache.hudi.org.apache.hadoop.hbase.client.Get;
import org.apache.hudi.org.apache.hadoop.hbase.client.Put;
import org.apache.hudi.org.apache.hadoop.hbase.client.Result;
import org.apache.hudi.org.apache.hadoop.hbase.client.Table;
import org.apache.hudi.org.apache.hadoop.hbase.util.Bytes;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Single entries put, deleted and looked up by Spark tasks, each at a bounded rate. No lambdas: Janino. */
public class Requests {
  private static final int BATCH = 500;

  /** Puts the rows (key, partition, commit, file) as entries, or deletes the entries of their keys. */
  public static class Change implements FlatMapFunction {
    private final Map settings;
    private final String table;
    private final boolean delete;
    private final double perSecond;

    public Change(Map settings, String table, boolean delete, double perSecond) {
      this.settings = settings;
      this.table = table;
      this.delete = delete;
      this.perSecond = perSecond;
    }

    public Iterator call(Object rows) throws Exception {
      Iterator each = (Iterator) rows;
      List done = new ArrayList();
      if (!each.hasNext()) {
        return done.iterator();
      }
      long count = 0L;
      long begun = System.nanoTime();
      Connection connection = ConnectionFactory.createConnection(Cluster.configuration(settings));
      try {
        Table index = connection.getTable(TableName.valueOf(table));
        List batch = new ArrayList();
        while (each.hasNext()) {
          batch.add(change((Row) each.next()));
          if (batch.size() == BATCH || !each.hasNext()) {
            count += batch.size();
            if (delete) {
              index.delete(batch);
            } else {
              index.put(batch);
            }
            batch = new ArrayList();
            double ahead = count / perSecond - (System.nanoTime() - begun) / 1e9;
            if (ahead > 0) {
              Thread.sleep((long) (ahead * 1000));
            }
          }
        }
      } finally {
        connection.close();
      }
      done.add(Long.valueOf(count));
      return done.iterator();
    }

    private Object change(Row row) {
      byte[] key = Bytes.toBytes(row.getString(0));
      if (delete) {
        return new Delete(key);
      }
      return new Put(key).addColumn(Cluster.FAMILY, Entries.COMMIT, Bytes.toBytes(row.getString(2)))
          .addColumn(Cluster.FAMILY, Entries.FILE, Bytes.toBytes(row.getString(3)))
          .addColumn(Cluster.FAMILY, Entries.PARTITION, Bytes.toBytes(row.getString(1)));
    }
  }

  /** Changes an index table by rows, each task at no more than so many a second; returns how many were changed. */
  public static long change(Dataset rows, Map settings, String table, boolean delete, double perSecondAndTask) {
    long count = 0L;
    for (Object each : rows.toJavaRDD().mapPartitions(
        new Change(new HashMap(settings), table, delete, perSecondAndTask)).collect()) {
      count += ((Long) each).longValue();
    }
    return count;
  }

  /** Looks the rows' keys up. */
  public static class LookUp implements FlatMapFunction {
    private final Map settings;
    private final String table;

    public LookUp(Map settings, String table) {
      this.settings = settings;
      this.table = table;
    }

    public Iterator call(Object rows) throws Exception {
      Iterator each = (Iterator) rows;
      long found = 0L;
      Connection connection = ConnectionFactory.createConnection(Cluster.configuration(settings));
      try {
        Table index = connection.getTable(TableName.valueOf(table));
        List batch = new ArrayList();
        while (each.hasNext()) {
          batch.add(new Get(Bytes.toBytes(((Row) each.next()).getString(0))).addFamily(Cluster.FAMILY));
          if (batch.size() == BATCH || !each.hasNext()) {
            Result[] results = index.get(batch);
            for (int i = 0; i < results.length; i++) {
              found += results[i].isEmpty() ? 0L : 1L;
            }
            batch = new ArrayList();
          }
        }
      } finally {
        connection.close();
      }
      List done = new ArrayList();
      done.add(Long.valueOf(found));
      return done.iterator();
    }
  }

  /** Looks the rows' keys up, as fast as the cluster answers; returns how many have an entry. */
  public static long lookUp(Dataset rows, Map settings, String table) {
    long count = 0L;
    for (Object each : rows.toJavaRDD().mapPartitions(new LookUp(new HashMap(settings), table)).collect()) {
      count += ((Long) each).longValue();
    }
    return count;
  }
}
