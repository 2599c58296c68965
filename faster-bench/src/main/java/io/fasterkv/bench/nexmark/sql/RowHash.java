package io.fasterkv.bench.nexmark.sql;

import io.fasterkv.bench.job.ResultHash;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/** Hashes rows by their values, without creating objects for numbers. */
final class RowHash implements ResultHash<RowData> {
  private static final long serialVersionUID = 1;
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final long NULL = 0xD1B54A32D192ED03L;

  private final RowType type;
  private transient @Nullable List<OfField> fields;

  RowHash(RowType type) {
    this.type = type;
  }

  /** The hash of a field that is not null. */
  private interface OfField {
    long of(RowData row, int field);
  }

  @Override
  public long hash(RowData row) {
    List<OfField> all = fields();
    long hash = SEED;
    for (int field = 0; field < all.size(); field++) {
      long value = row.isNullAt(field) ? NULL : all.get(field).of(row, field);
      hash = ResultHash.mix(hash, value);
    }
    return hash;
  }

  @Override
  public boolean isAdded(RowData row) {
    RowKind kind = row.getRowKind();
    return kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
  }

  private List<OfField> fields() {
    if (fields == null) {
      fields = type.getChildren().stream().map(RowHash::of).toList();
    }
    return fields;
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
}
