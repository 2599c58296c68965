import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.*;
import org.junit.platform.launcher.core.*;

public class Loop {
  public static void main(String[] a) throws Exception {
    int n = Integer.parseInt(a[1]);
    for (int i = 0; i < n; i++) {
      var req =
          LauncherDiscoveryRequestBuilder.request()
              .selectors(DiscoverySelectors.selectMethod(a[0]))
              .build();
      var l = LauncherFactory.create();
      var s = new org.junit.platform.launcher.listeners.SummaryGeneratingListener();
      long t = System.nanoTime();
      l.execute(req, s);
      System.out.println(
          i
              + " "
              + s.getSummary().getTestsSucceededCount()
              + " "
              + s.getSummary().getTestsFailedCount()
              + " "
              + (System.nanoTime() - t) / 1000000
              + "ms");
      if (s.getSummary().getTestsFailedCount() > 0) {
        s.getSummary().printFailuresTo(new java.io.PrintWriter(System.out));
      }
    }
  }
}
