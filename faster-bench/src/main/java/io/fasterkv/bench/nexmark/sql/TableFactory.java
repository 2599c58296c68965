package io.fasterkv.bench.nexmark.sql;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/** Creates the tables of a run for Flink, which finds it as a service. */
public final class TableFactory implements DynamicTableSourceFactory, DynamicTableSinkFactory {
  static final String CONNECTOR = "nexmark-run";

  /** Names the {@link io.fasterkv.bench.job.JobMeter}. */
  static final ConfigOption<String> RUN = ConfigOptions.key("run").stringType().noDefaultValue();

  /** Whether a table is the side input. */
  static final ConfigOption<Boolean> SIDE =
      ConfigOptions.key("side").booleanType().defaultValue(false);

  /** Created by Flink. */
  public TableFactory() {}

  @Override
  public String factoryIdentifier() {
    return CONNECTOR;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(RUN);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(SIDE);
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    return helper.getOptions().get(SIDE)
        ? new SideTable()
        : new EventTable(helper.getOptions().get(RUN), context.getPhysicalRowDataType());
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    return new ResultTable(
        helper.getOptions().get(RUN), (RowType) context.getPhysicalRowDataType().getLogicalType());
  }
}
