package io.fasterkv.cluster.evolve;

import io.fasterkv.cluster.job.CountingPlan;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.formats.avro.typeutils.AvroSerializer;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Counts in four ways: in a value, a list and a map of accounts, and in an object serialized by
 * Avro.
 */
final class Evolve extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final int PARTS = 3;

  private transient ValueState<Account> value;
  private transient ListState<Account> list;
  private transient MapState<Integer, Account> map;
  private transient ValueState<Totals> avro;

  @Override
  public void open(OpenContext open) {
    TypeInformation<Account> type = Types.POJO(Account.class);
    RuntimeContext context = getRuntimeContext();
    value = context.getState(new ValueStateDescriptor<>("value", type));
    list = context.getListState(new ListStateDescriptor<>("list", type));
    map = context.getMapState(new MapStateDescriptor<>("map", Types.INT, type));
    avro = context.getState(new ValueStateDescriptor<>("avro", new AvroSerializer<>(Totals.class)));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    Account account = value.value() == null ? new Account() : value.value();
    int part = (int) (account.numbers() % PARTS);
    account.add(number);
    value.update(account);

    List<Account> accounts = accounts();
    if (accounts.size() <= part) {
      accounts.add(new Account());
    }
    accounts.get(part).add(number);
    list.update(accounts);

    Account mapped = map.contains(part) ? map.get(part) : new Account();
    mapped.add(number);
    map.put(part, mapped);

    Totals totals = avro.value() == null ? new Totals() : avro.value();
    totals.add(number);
    avro.update(totals);
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
  }

  private List<Account> accounts() throws Exception {
    List<Account> accounts = new ArrayList<>();
    list.get().forEach(accounts::add);
    return accounts;
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
      throws Exception {
    Account account = value.value();
    Totals totals = avro.value();
    boolean isWhole =
        account.isWhole()
            && totals.isWhole()
            && totals.numbers() == account.numbers()
            && totals.total() == account.total()
            && isSame(accounts(), account)
            && isSame(map.values(), account);
    out.collect(
        CountingPlan.fact(context.getCurrentKey(), account.numbers(), account.total(), isWhole));
  }

  private static boolean isSame(Iterable<Account> parts, Account whole) {
    long numbers = 0;
    long total = 0;
    boolean areWhole = true;
    for (Account part : parts) {
      numbers += part.numbers();
      total += part.total();
      areWhole &= part.isWhole();
    }
    return areWhole && numbers == whole.numbers() && total == whole.total();
  }
}
