package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.util.IOUtils;

/** A process for each of several backends. */
final class BackendProcesses implements AutoCloseable {
  private final List<BackendProcess> all = new ArrayList<>();

  private BackendProcesses() {}

  /** Starts them. */
  static BackendProcesses start(List<Backend> kinds) throws IOException {
    BackendProcesses processes = new BackendProcesses();
    try {
      for (Backend kind : kinds) {
        processes.all.add(BackendProcess.start(kind));
      }
      return processes;
    } catch (IOException e) {
      IOUtils.closeAllQuietly(processes.all);
      throw e;
    }
  }

  /** In the order in which they were requested. */
  List<BackendProcess> all() {
    return all;
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(all);
  }
}
