package io.fasterkv.bench.nexmark.job;

import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;

/** Hashes rows by their values, without creating objects for numbers. */
final class RowHash {
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final long NULL = 0xD1B54A32D192ED03L;

  private final List<OfField> fields;

  RowHash(RowType type) {
    fields = type.getChildren().stream().map(RowHash::of).toList();
  }

  /** The hash of a field that is not null. */
  private interface OfField {
    long of(RowData row, int field);
  }

  long hash(RowData row) {
    long hash = SEED;
    for (int field = 0; field < fields.size(); field++) {
      long value = row.isNullAt(field) ? NULL : fields.get(field).of(row, field);
      hash = mix(hash + value);
    }
    return hash;
  }

  private static OfField of(LogicalType type) {
    return switch (type.getTypeRoot()) {
      case CHAR, VARCHAR -> (row, field) -> row.getString(field).hashCode();
      case BOOLEAN -> (row, field) -> row.getBoolean(field) ? 1 : 0;
      case INTEGER, DATE -> RowData::getInt;
      case BIGINT -> RowData::getLong;
      case DOUBLE -> (row, field) -> Double.doubleToLongBits(row.getDouble(field));
      case DECIMAL -> {
        DecimalType decimal = (DecimalType) type;
        yield (row, field) ->
            row.getDecimal(field, decimal.getPrecision(), decimal.getScale())
                .toBigDecimal()
                .hashCode();
      }
      case TIMESTAMP_WITHOUT_TIME_ZONE -> {
        int precision = ((TimestampType) type).getPrecision();
        yield (row, field) -> of(row.getTimestamp(field, precision));
      }
      default ->
          throw new IllegalArgumentException(
              "the sink cannot hash a column: type="
                  + type
                  + ", allowed=texts, numbers, booleans, TIMESTAMP");
    };
  }

  private static long of(TimestampData time) {
    return time.getMillisecond() * 1_000_000 + time.getNanoOfMillisecond();
  }

  private static long mix(long bits) {
    long mixed = bits * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 32)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 29);
  }
}
