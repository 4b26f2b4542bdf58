package freshet.index;

import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hudi.org.apache.hadoop.hbase.KeyValue;
import org.apache.hudi.org.apache.hadoop.hbase.TableName;
import org.apache.hudi.org.apache.hadoop.hbase.client.Connection;
import org.apache.hudi.org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hudi.org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hudi.org.apache.hadoop.hbase.client.Result;
import org.apache.hudi.org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hudi.org.apache.hadoop.hbase.client.Scan;
import org.apache.hudi.org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hudi.org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hudi.org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hudi.org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hudi.org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hudi.org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hudi.org.apache.hadoop.hbase.util.Bytes;
import org.apache.hudi.org.apache.hadoop.hbase.util.Pair;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;

/** Index entries between Spark and HBase, in the layout of Hudi's HBase index. Rows never leave the JVM. No lambdas: Janino. */
public class Entries {
  static final byte[] COMMIT = Bytes.toBytes("commit_ts");
  static final byte[] FILE = Bytes.toBytes("file_name");
  static final byte[] PARTITION = Bytes.toBytes("partition_path");

  /**
   * Writes the rows (key, partition, commit, file) of one Spark partition, sorted by key, as one HFile. They come as Spark
   * holds them, whose texts are the bytes that HBase wants. An entry's version is its commit's time in milliseconds.
   */
  public static class WriteHFile implements FlatMapFunction {
    private final String folder;
    private final String compression;
    private final String encoding;

    public WriteHFile(String folder, String compression, String encoding) {
      this.folder = folder;
      this.compression = compression;
      this.encoding = encoding;
    }

    public Iterator call(Object rows) throws Exception {
      Iterator each = (Iterator) rows;
      List done = new ArrayList();
      if (!each.hasNext()) {
        return done.iterator();
      }
      Configuration conf = Cluster.ofSpark();
      String name = UUID.randomUUID().toString().replace("-", "");
      // Beside the family's folder until it is whole: of a task that is killed or runs twice nothing half is loaded.
      Path unfinished = new Path(folder + "/unfinished", name);
      FileSystem files = unfinished.getFileSystem(conf);
      HFileContext context = new HFileContextBuilder().withBlockSize(Cluster.BLOCK_BYTES).withColumnFamily(Cluster.FAMILY)
          .withCompression(Compression.Algorithm.valueOf(compression))
          .withDataBlockEncoding(DataBlockEncoding.valueOf(encoding)).withCreateTime(System.currentTimeMillis())
          .withCellComparator(new org.apache.hadoop.hbase.CellComparatorImpl()).build();
      StoreFileWriter writer = new StoreFileWriter.Builder(conf, CacheConfig.DISABLED, files).withFilePath(unfinished)
          .withBloomType(BloomType.ROW).withFileContext(context).build();
      SimpleDateFormat time = new SimpleDateFormat("yyyyMMddHHmmssSSS", Locale.ROOT);
      time.setTimeZone(TimeZone.getTimeZone("UTC"));
      byte[] known = null;
      long version = 0L;
      long count = 0L;
      try {
        while (each.hasNext()) {
          InternalRow row = (InternalRow) each.next();
          byte[] key = row.getUTF8String(0).getBytes();
          byte[] commit = row.getUTF8String(2).getBytes();
          if (!Arrays.equals(commit, known)) {
            version = time.parse(Bytes.toString(commit)).getTime();
            known = commit;
          }
          writer.append(new KeyValue(key, Cluster.FAMILY, COMMIT, version, commit));
          writer.append(new KeyValue(key, Cluster.FAMILY, FILE, version, row.getUTF8String(3).getBytes()));
          writer.append(new KeyValue(key, Cluster.FAMILY, PARTITION, version, row.getUTF8String(1).getBytes()));
          count++;
        }
        writer.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(System.currentTimeMillis()));
        writer.appendFileInfo(HStoreFile.MAJOR_COMPACTION_KEY, Bytes.toBytes(true));
        writer.appendTrackedTimestampsToMetadata();
      } finally {
        writer.close();
      }
      Path whole = new Path(folder + "/hfiles/_s", name);
      files.mkdirs(whole.getParent());
      if (!files.rename(unfinished, whole)) {
        throw new java.io.IOException("could not rename " + unfinished + " to " + whole);
      }
      done.add(RowFactory.create(new Object[] {Long.valueOf(count), Long.valueOf(files.getFileStatus(whole).getLen())}));
      return done.iterator();
    }
  }

  /** Returns one row per HFile: its number of entries, its bytes. */
  public static List writeHFiles(Dataset entries, String folder, String compression, String encoding) {
    return entries.queryExecution().toRdd().toJavaRDD().mapPartitions(new WriteHFile(folder, compression, encoding)).collect();
  }

  /** Reads the entries of one region; each task is given [start, end) keys. */
  public static class ReadRegion implements FlatMapFunction {
    private final Map settings;
    private final String table;

    public ReadRegion(Map settings, String table) {
      this.settings = settings;
      this.table = table;
    }

    public Iterator call(Object ranges) throws Exception {
      Iterator each = (Iterator) ranges;
      if (!each.hasNext()) {
        return new ArrayList().iterator();
      }
      return new Scanned(settings, table, (byte[][]) each.next());
    }
  }

  /** The entries of one region as they come, so that a region of any size fits. */
  static class Scanned implements Iterator {
    private final Connection connection;
    private final ResultScanner scanner;
    private Result next;

    Scanned(Map settings, String table, byte[][] range) throws Exception {
      connection = ConnectionFactory.createConnection(Cluster.configuration(settings));
      Scan scan = new Scan().withStartRow(range[0]).withStopRow(range[1]).addFamily(Cluster.FAMILY).setCaching(5000)
          .setCacheBlocks(false);
      scanner = connection.getTable(TableName.valueOf(table)).getScanner(scan);
      advance();
    }

    private void advance() throws Exception {
      next = scanner.next();
      if (next == null) {
        scanner.close();
        connection.close();
      }
    }

    public boolean hasNext() {
      return next != null;
    }

    public Object next() {
      Result found = next;
      try {
        advance();
      } catch (Exception failed) {
        throw new RuntimeException(failed);
      }
      return RowFactory.create(new Object[] {Bytes.toString(found.getRow()), text(found, PARTITION), text(found, COMMIT),
          text(found, FILE)});
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }

    private static String text(Result found, byte[] column) {
      byte[] value = found.getValue(Cluster.FAMILY, column);
      return value == null ? null : Bytes.toString(value);
    }
  }

  /** Rows (key, partition, commit, file) of an index table, one Spark partition a region. */
  public static JavaRDD read(JavaSparkContext spark, Map settings, String table) throws Exception {
    Connection connection = ConnectionFactory.createConnection(Cluster.configuration(settings));
    List ranges = new ArrayList();
    try {
      RegionLocator locator = connection.getRegionLocator(TableName.valueOf(table));
      Pair keys = locator.getStartEndKeys();
      byte[][] starts = (byte[][]) keys.getFirst();
      byte[][] ends = (byte[][]) keys.getSecond();
      for (int i = 0; i < starts.length; i++) {
        ranges.add(new byte[][] {starts[i], ends[i]});
      }
      locator.close();
    } finally {
      connection.close();
    }
    return spark.parallelize(ranges, ranges.size()).mapPartitions(new ReadRegion(new java.util.HashMap(settings), table));
  }
}
