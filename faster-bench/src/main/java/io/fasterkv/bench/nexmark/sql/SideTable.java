package io.fasterkv.bench.nexmark.sql;

import java.util.Collection;
import java.util.List;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.LookupFunction;

/** The side input of a query: a value for each of ten thousand keys, looked up in memory. */
final class SideTable implements LookupTableSource {
  @Override
  public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
    return LookupFunctionProvider.of(new Lookup());
  }

  @Override
  public DynamicTableSource copy() {
    return new SideTable();
  }

  @Override
  public String asSummaryString() {
    return "the side input";
  }

  /** Called by the generated code, which needs it to be public. */
  public static final class Lookup extends LookupFunction {
    private static final long serialVersionUID = 1;
    private static final int KEYS = 10_000;

    /** Created by the table. */
    Lookup() {}

    @Override
    public Collection<RowData> lookup(RowData keys) {
      long key = keys.getLong(0);
      return key < 0 || key >= KEYS
          ? List.of()
          : List.of(GenericRowData.of(key, StringData.fromString("value " + key)));
    }
  }
}
