package io.fasterkv.bench.job;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Jobs that one command runs. The process of a run creates its own instance, so a suite is a public
 * class with a public constructor without arguments.
 */
public interface JobSuite {
  /** What the command is called. */
  String name();

  /** What one of its jobs is called in reports. */
  String jobTitle();

  /** All jobs, in the order of reports. */
  List<? extends BenchJob> jobs();

  /** The job of a name. */
  default Optional<BenchJob> named(String name) {
    return jobs().stream()
        .filter(job -> job.toString().equals(name))
        .findFirst()
        .map(BenchJob.class::cast);
  }

  /** Creates the suite of a class's name. */
  static JobSuite of(String className) throws ReflectiveOperationException {
    return Class.forName(className).asSubclass(JobSuite.class).getConstructor().newInstance();
  }

  /** Writes and reads plans; a job is its name. */
  default ObjectMapper mapper() {
    SimpleModule module = new SimpleModule();
    module.addDeserializer(BenchJob.class, new FromName(this));
    return new ObjectMapper().registerModule(module);
  }

  /** Reads a job. */
  final class FromName extends StdDeserializer<BenchJob> {
    private static final long serialVersionUID = 1;

    private final transient JobSuite suite;

    FromName(JobSuite suite) {
      super(BenchJob.class);
      this.suite = suite;
    }

    @Override
    public BenchJob deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      String name = parser.getText();
      return suite
          .named(name)
          .orElseThrow(
              () -> new IOException("no such job: suite=" + suite.name() + ", name=" + name));
    }
  }
}
