"""Counts the numbers from 0 on by their remainders, as CountingJob does, with state in Python.

Arguments: host:port of the cluster, PyFlink's jar for tasks, numbers, keys, gate, results, and
key=value settings of the job. The job is slow until the gate, a file, exists. Prints the number of
the job and does not wait for its end.
"""

import os
import sys
import time

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.serialization import Encoder
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflink.java_gateway import get_gateway
from pyflink.util.java_utils import to_jarray

PARTS = 4
LAST = 2**63 - 1


class Count(KeyedProcessFunction):
    def __init__(self, gate):
        self.gate = gate

    def open(self, context):
        self.is_open = False
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.sums = context.get_map_state(
            MapStateDescriptor("sums", Types.INT(), Types.LONG())
        )

    def process_element(self, number, context):
        self.is_open = self.is_open or os.path.exists(self.gate)
        if not self.is_open:
            time.sleep(0.002)
        now = (self.count.value() or 0) + 1
        self.count.update(now)
        part = now % PARTS
        self.sums.put(part, (self.sums.get(part) or 0) + number)
        context.timer_service().register_event_time_timer(LAST)

    def on_timer(self, timestamp, context):
        total = sum(self.sums.values())
        key = context.get_current_key()
        yield "key=%d count=%d sum=%d whole=true" % (key, self.count.value(), total)


def remote_environment(cluster, jar, settings):
    """An environment that submits to a cluster; get_execution_environment would start its own."""
    config = Configuration()
    for setting in settings:
        config.set_string(*setting.split("=", 1))
    host, port = cluster.split(":")
    gateway = get_gateway()
    jars = to_jarray(gateway.jvm.String, [jar])
    java = gateway.jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
    env = StreamExecutionEnvironment(
        java.createRemoteEnvironment(host, int(port), config._j_configuration, jars)
    )
    # Again: a remote environment ignores what its configuration says of recovery.
    env.configure(config)
    return env


def main(cluster, jar, numbers, keys, gate, results, *settings):
    env = remote_environment(cluster, jar, settings)
    remainders = int(keys)
    source = NumberSequenceSource(0, int(numbers) - 1)
    env.from_source(
        source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
    ).uid("numbers").key_by(lambda number: number % remainders, Types.LONG()).process(
        Count(gate), Types.STRING()
    ).uid("count").sink_to(
        FileSink.for_row_format(results, Encoder.simple_string_encoder()).build()
    ).uid("facts")
    print("job=" + str(env.execute_async("python").get_job_id()))


main(*sys.argv[1:])
