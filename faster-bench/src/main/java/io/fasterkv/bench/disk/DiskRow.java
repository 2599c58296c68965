package io.fasterkv.bench.disk;

import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The measurements of store and fio, round by round.
 *
 * @param fio as many as {@code store} has, or none; one less during a round
 */
public record DiskRow(String name, String unit, List<Double> store, List<Double> fio) {

  /** Creates an empty row. */
  static DiskRow of(String name, String unit) {
    return new DiskRow(name, unit, new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
  }

  /** The ratio of the store to fio in the rounds that both have had, if there is fio. */
  public Optional<Spread> ratio() {
    if (fio.isEmpty()) {
      return Optional.empty();
    }
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < Math.min(store.size(), fio.size()); round++) {
      ratios.add(store.get(round) / fio.get(round));
    }
    return Optional.of(Spread.of(ratios));
  }
}
