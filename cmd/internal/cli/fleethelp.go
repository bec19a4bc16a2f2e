package cli

const fleetHelp = `schedscope-fleet analyses many traces, of a service or of all, on Apache Beam: on this machine or on
a cluster. It is a command of its own, which is built in its folder:

  cd cmd/schedscope-fleet && go install .

  schedscope-fleet --input 's3://traces/*/*/*.trace' --output s3://reports/2026-11-26 --key '{1}/{2}'

--input is a pattern: *, ? and [a-z] match within an element of a path. Paths begin with gs:// (Google
Cloud Storage), s3:// (Amazon S3, set up by its usual environment variables) or are those of files.
Traces may be packed by gzip or zstd. A trace is named by its path behind the fixed folders of the
pattern: shop/v12/17.trace.

--key says which traces become one report, all if it is left out. It is a template or a regular
expression, which has parentheses:

  {1}/{2}             elements of the name, from 1: shop/v12
  {1}-{env.commit}    fields of the environment record next to the trace: TRACE.env.json, such as
                      {"begin": {"commit": "c0ffee"}, "end": {}}, which schedscope gate record
                      writes: commit, go, os, arch, cpu, ncpu, workload, runner ...
  '^(\w+)/.*T(\d\d)'  the groups, joined by slashes: service and hour of shop/v12/2026-11-26T17.trace

What a name or record does not have is the key unknown. --output gets, for each key (escaped as in URLs):

  key=shop%2Fv12/report.json  the saved report of all its traces, as schedscope analyze of their folder has it
  key=shop%2Fv12/traces.csv   a row for each trace: size, events, latency, main cause, verdict, requests
  unread.csv                  what could not be read, and why, if anything; it stops nothing else

Read a report as any other, for instance from a copy on this machine:

  schedscope analyze key=shop%2Fv12/report.json
  schedscope plot -o pictures/ key=shop%2Fv12/report.json
  schedscope view key=shop%2Fv12/report.json
  schedscope export --format openmetrics key=shop%2Fv12/report.json

The text says of each part of slow requests in how many traces it is, and which trace has the slowest.
Rows of many keys are compared by SQL. In DuckDB, in the output's folder:

-- the worst keys by the median trace
SELECT key, count(*) AS traces, median(p99_ns) / 1e6 AS p99_ms, median(request_p99_ns) / 1e6 AS request_p99_ms
FROM read_csv('key=*/traces.csv', hive_partitioning = true) GROUP BY key ORDER BY p99_ms DESC;

-- the traces to look at first
SELECT key, trace, request_max_ns / 1e6 AS request_max_ms, main_cause, verdict
FROM read_csv('key=*/traces.csv', hive_partitioning = true) ORDER BY request_max_ns DESC NULLS LAST LIMIT 10;

-- what wastes most time, by key
SELECT key, main_cause, count(*) AS traces, sum(total_ns) / 1e9 AS waited_s
FROM read_csv('key=*/traces.csv', hive_partitioning = true) GROUP BY ALL ORDER BY waited_s DESC LIMIT 20;

Runners, by --runner, which take flags of their own (beam.apache.org/documentation/runners):

  prism      this machine, all processors; the default
  flink      --endpoint HOST:8099 --environment_type LOOPBACK or DOCKER
  spark      --endpoint HOST:8099, as flink
  dataflow   --project P --region R --staging_location gs://BUCKET/staging
  universal  any job server: --endpoint HOST:PORT

Results do not depend on the runner, on the number of workers or on retries. An error of the storage is
tried four times in 21 seconds; then the worker fails what it was given, which runners try again, except
prism, which gives up. Unread is what its content says, what vanished or may not be read, and what has
more bytes than --max-bytes (1 GiB), stored or unpacked. Counters traces, unread, bytes, lost_bytes and
events go to the runner's metrics and, at the end, to stderr.

A core analyses about 1.8 million events per second of traces of 5 MB, a million events each: 10^6 of
them take some 160 core hours, which is 8 dollars at 5 cents for each, and reading 5 TB. A worker needs
some 20 times the size of its greatest trace; traces above 8 MiB go through a temporary file.
Let a key have 50,000 traces at most: merging takes a millisecond for each, however many there are, but
each adds 2 kB to the report, which cannot be read again beyond 128 MB.
`
