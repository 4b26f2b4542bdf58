package freshet.index;

import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.model.EmptyHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieRecordGlobalLocation;
import org.apache.hudi.common.model.HoodieRecordLocation;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.data.HoodieJavaRDD;
import org.apache.hudi.index.HoodieIndexUtils;
import org.apache.hudi.index.SparkMetadataTableRecordIndex;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.Optional;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.api.java.function.PairFunction;
import scala.Tuple2;

/** Hudi's record index, whose rows that move to another partition are merged by Moves. */
public class Records extends SparkMetadataTableRecordIndex {
  static final String MOVES = "hoodie.record.index.update.partition.path";

  public Records(HoodieWriteConfig config) {
    super(config);
  }

  public HoodieData tagLocation(HoodieData records, HoodieEngineContext context, HoodieTable table) {
    // By this setting Hudi's own index says where a row lies, and merges nothing; it is asked for the keys alone.
    HoodieWriteConfig staying = HoodieWriteConfig.newBuilder().withProperties(config.getProps()).build();
    staying.setValue(MOVES, "false");
    JavaRDD incoming = HoodieJavaRDD.getJavaRDD(records);
    JavaRDD found = HoodieJavaRDD.getJavaRDD(new SparkMetadataTableRecordIndex(staying).tagLocation(
        HoodieJavaRDD.of(incoming.map(new KeyAlone())), context, table));
    JavaPairRDD places = found.filter(new IsPlaced()).mapToPair(new Placed());
    JavaRDD known = incoming.mapToPair(new Moves.ByKey()).leftOuterJoin(places).values().map(new AtItsPlace());
    return Moves.tagged(known, config, table);
  }

  public static class KeyAlone implements Function {
    public Object call(Object record) {
      return new HoodieAvroRecord(
          new HoodieKey(((HoodieRecord) record).getRecordKey(), ""), new EmptyHoodieRecordPayload());
    }
  }

  public static class IsPlaced implements Function {
    public Object call(Object record) {
      return Boolean.valueOf(((HoodieRecord) record).isCurrentLocationKnown());
    }
  }

  public static class Placed implements PairFunction {
    public Tuple2 call(Object one) {
      HoodieRecord record = (HoodieRecord) one;
      HoodieRecordLocation place = record.getCurrentLocation();
      return new Tuple2(record.getRecordKey(), new HoodieRecordGlobalLocation(
          record.getPartitionPath(), place.getInstantTime(), place.getFileId()));
    }
  }

  public static class AtItsPlace implements Function {
    public Object call(Object joined) {
      HoodieRecord record = (HoodieRecord) ((Tuple2) joined)._1();
      Optional found = (Optional) ((Tuple2) joined)._2();
      if (!found.isPresent()) {
        return record;
      }
      HoodieRecordGlobalLocation place = (HoodieRecordGlobalLocation) found.get();
      return place.getPartitionPath().equals(record.getPartitionPath()) ? HoodieIndexUtils.tagRecord(record, place)
          : (Object) Pair.of(record, place);
    }
  }
}
