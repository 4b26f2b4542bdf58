package freshet.index;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hudi.org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hudi.org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hudi.org.apache.hadoop.hbase.ServerName;
import org.apache.hudi.org.apache.hadoop.hbase.TableName;
import org.apache.hudi.org.apache.hadoop.hbase.client.Admin;
import org.apache.hudi.org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hudi.org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hudi.org.apache.hadoop.hbase.client.Connection;
import org.apache.hudi.org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hudi.org.apache.hadoop.hbase.client.Get;
import org.apache.hudi.org.apache.hadoop.hbase.client.Put;
import org.apache.hudi.org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hudi.org.apache.hadoop.hbase.client.Scan;
import org.apache.hudi.org.apache.hadoop.hbase.client.Table;
import org.apache.hudi.org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hudi.org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hudi.org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hudi.org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hudi.org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hudi.org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hudi.org.apache.hadoop.hbase.util.Bytes;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** One HBase cluster as the driver sees it: its servers, and the index tables on it. Compiled by Janino: no lambdas. */
public class Cluster {
  static final byte[] FAMILY = Bytes.toBytes("_s");
  // What Hudi's rollback reads to put an entry back: the version before the commit's. One more is kept.
  static final int VERSIONS = 3;
  // A key is searched for through its block: of 40,000 among 4 million an upsert took 7.1 s with HBase's own 64 KB, and 5.5 s.
  public static final int BLOCK_BYTES = 16384;
  private static final String MARK = "freshet.";
  // Whether an index is whole stands in a row, for a change of the descriptor has all regions opened anew; no key has this byte.
  private static final byte[] STATES = Bytes.toBytes("m");
  private static final byte[] STATE = new byte[] {(byte) 0xff};
  private static String hudis = "";
  private static SparkEnv known;
  private static Configuration spark;
  private static Configuration hbase;

  private final Configuration conf;
  private final Connection connection;

  /** Connects; a cluster that is not there is an IOException after the client's few retries. */
  public Cluster(Map settings) throws Exception {
    conf = configuration(settings);
    connection = ConnectionFactory.createConnection(conf);
  }

  /** The settings of Hadoop as Spark has them, in the driver and in executors: spark.hadoop.* among them. */
  static synchronized Configuration ofSpark() {
    if (known != SparkEnv.get()) {
      // Each task asks, and the files of defaults take tens of milliseconds to read: once for an application.
      spark = SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
      // What the session says of the HFiles of Hudi's metadata table is not for those of an index table.
      spark.unset("hbase.writer.unified.encoded.blocksize.ratio");
      spark.unset("hfile.index.block.max.size");
      hbase = HBaseConfiguration.create(spark);
      known = SparkEnv.get();
    }
    return new Configuration(spark);
  }

  private static synchronized Configuration ofHBase() {
    ofSpark();
    return new Configuration(hbase);
  }

  static Configuration configuration(Map settings) throws Exception {
    Configuration conf = ofHBase();
    for (Object each : settings.entrySet()) {
      Map.Entry entry = (Map.Entry) each;
      conf.set((String) entry.getKey(), (String) entry.getValue());
    }
    if ("kerberos".equals(conf.get("hbase.security.authentication"))) {
      UserGroupInformation.setConfiguration(conf);
      UserGroupInformation.loginUserFromKeytab(conf.get("freshet.kerberos.principal"), conf.get("freshet.kerberos.keytab"));
    }
    return conf;
  }

  /** Number of region servers alive. */
  public int servers() throws Exception {
    Admin admin = connection.getAdmin();
    try {
      return admin.getClusterMetrics().getLiveServerMetrics().size();
    } finally {
      admin.close();
    }
  }

  /** What freshet noted at a table, by name; null where there is no such table; "versions" is 0 without Hudi's family. */
  public Map describe(String table) throws Exception {
    Admin admin = connection.getAdmin();
    try {
      TableName name = TableName.valueOf(table);
      if (!admin.tableExists(name)) {
        return null;
      }
      Map found = new HashMap();
      TableDescriptor descriptor = admin.getDescriptor(name);
      for (Object each : descriptor.getValues().entrySet()) {
        Map.Entry entry = (Map.Entry) each;
        String key = text(entry.getKey());
        if (key.startsWith(MARK)) {
          found.put(key.substring(MARK.length()), text(entry.getValue()));
        }
      }
      ColumnFamilyDescriptor family = descriptor.getColumnFamily(FAMILY);
      found.put("versions", family == null ? "0" : String.valueOf(family.getMaxVersions()));
      boolean enabled = admin.isTableEnabled(name);
      found.put("enabled", String.valueOf(enabled));
      // A disabled table answers nothing.
      found.put("state", enabled && descriptor.hasColumnFamily(STATES) ? state(name) : "ready");
      return found;
    } finally {
      admin.close();
    }
  }

  private String state(TableName table) throws Exception {
    Table open = connection.getTable(table);
    try {
      return Bytes.toString(open.get(new Get(STATE).addFamily(STATES)).getValue(STATES, STATES));
    } finally {
      open.close();
    }
  }

  /** Says of a table that freshet made whether it is whole: "ready" or anything else; until it is said, it is not. */
  public void setState(String table, String state) throws Exception {
    Table open = connection.getTable(TableName.valueOf(table));
    try {
      open.put(new Put(STATE).addColumn(STATES, STATES, Bytes.toBytes(state)));
    } finally {
      open.close();
    }
  }

  private static String text(Object bytes) {
    return ((org.apache.hudi.org.apache.hadoop.hbase.util.Bytes) bytes).toString().isEmpty() ? ""
        : Bytes.toString(((org.apache.hudi.org.apache.hadoop.hbase.util.Bytes) bytes).copyBytes());
  }

  /** Makes an index table with regions that begin at the given keys, the first region's excepted. */
  public void create(String table, List splits, Map marks, String compression, String encoding) throws Exception {
    Admin admin = connection.getAdmin();
    try {
      ColumnFamilyDescriptor family = ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setMaxVersions(VERSIONS)
          .setBloomFilterType(BloomType.ROW).setBlocksize(BLOCK_BYTES)
          .setCompressionType(Compression.Algorithm.valueOf(compression))
          .setDataBlockEncoding(DataBlockEncoding.valueOf(encoding)).build();
      TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(TableName.valueOf(table)).setColumnFamily(family)
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(STATES));
      setMarks(builder, marks);
      if (splits.isEmpty()) {
        admin.createTable(builder.build());
      } else {
        admin.createTable(builder.build(), (byte[][]) splits.toArray(new byte[0][]));
      }
    } finally {
      admin.close();
    }
  }

  /** Notes things at a table, as attributes of its descriptor. */
  public void mark(String table, Map marks) throws Exception {
    Admin admin = connection.getAdmin();
    try {
      TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(admin.getDescriptor(TableName.valueOf(table)));
      setMarks(builder, marks);
      admin.modifyTable(builder.build());
    } finally {
      admin.close();
    }
  }

  private static void setMarks(TableDescriptorBuilder builder, Map marks) {
    for (Object each : marks.entrySet()) {
      Map.Entry entry = (Map.Entry) each;
      builder.setValue(MARK + entry.getKey(), (String) entry.getValue());
    }
  }

  public void drop(String table) throws Exception {
    Admin admin = connection.getAdmin();
    try {
      TableName name = TableName.valueOf(table);
      if (!admin.tableExists(name)) {
        return;
      }
      if (admin.isTableEnabled(name)) {
        admin.disableTable(name);
      }
      admin.deleteTable(name);
    } finally {
      admin.close();
    }
  }

  /** Whether a table holds no entry at all. */
  public boolean isEmpty(String table) throws Exception {
    ResultScanner scanner = connection.getTable(TableName.valueOf(table)).getScanner(new Scan().addFamily(FAMILY).setLimit(1));
    try {
      return scanner.next() == null;
    } finally {
      scanner.close();
    }
  }

  /** Requests that the table's regions have served since they were opened: reads, writes. */
  public long[] requests(String table) throws Exception {
    Admin admin = connection.getAdmin();
    try {
      long reads = 0L;
      long writes = 0L;
      for (Object server : admin.getClusterMetrics().getLiveServerMetrics().keySet()) {
        for (Object each : admin.getRegionMetrics((ServerName) server, TableName.valueOf(table))) {
          reads += ((RegionMetrics) each).getReadRequestCount();
          writes += ((RegionMetrics) each).getWriteRequestCount();
        }
      }
      return new long[] {reads, writes};
    } finally {
      admin.close();
    }
  }

  /** Gives a folder of HFiles to a table; returns how many it took. */
  public int load(String table, String folder) throws Exception {
    return new BulkLoadHFilesTool(conf).bulkLoad(TableName.valueOf(table), new Path(folder)).size();
  }

  /**
   * Hudi's index keeps one connection for the whole JVM, whatever cluster the next table names; and it remembers where a
   * region lay after it has moved, for it does not know the server's word for that. Closed here, the next write opens
   * another one. Returns false where the executors are other JVMs, whose connection to another cluster cannot be reached.
   */
  public static synchronized boolean hudiTalksTo(String cluster, boolean local) throws Exception {
    if (!hudis.isEmpty()) {
      if (!local) {
        return hudis.equals(cluster);
      }
      java.lang.reflect.Field field =
          Class.forName("org.apache.hudi.index.hbase.SparkHoodieHBaseIndex", true, Thread.currentThread().getContextClassLoader())
              .getDeclaredField("HBASE_CONNECTION");
      field.setAccessible(true);
      Connection open = (Connection) field.get(null);
      if (open != null) {
        open.close();
      }
    }
    hudis = cluster;
    return true;
  }

  public void close() throws Exception {
    connection.close();
  }
}
