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
  {1}-{env.commit}    fields of the environment record that the trace has (package capture, schedtest) or
                      next to it, TRACE.env.json, such as {"begin": {"commit": "c0ffee"}, "end": {}},
                      which schedscope gate record writes and which counts if both have the field:
                      commit, go, os, arch, cpu, ncpu, workload, runner ...
  '^(\w+)/.*T(\d\d)'  the groups, joined by slashes: service and hour of shop/v12/2026-11-26T17.trace

What a name or record does not have is the key unknown. --output gets, for each key (escaped as in URLs):

  key=shop%2Fv12/report.json   the saved report of all its traces, as schedscope analyze of their folder has it
  key=shop%2Fv12/traces.csv    a row for each trace: size, events, latency, main cause, verdict, requests
  key=shop%2Fv12/requests.csv  a row for each trace and handler, task or function that it has requests of
  key=shop%2Fv12/culprits.csv  a row for each trace and item of its first screen: title, code, share (of what makes
                               slow requests slow, or of all time lost), time in each slow request
  requests/key=shop%2Fv12/day=2026-11-26/00000.parquet   rows of --tables, below
  unread.csv                   what could not be read, and why, if anything; it stops nothing else

Read a report as any other, for instance from a copy on this machine:

  schedscope analyze key=shop%2Fv12/report.json
  schedscope plot -o pictures/ key=shop%2Fv12/report.json
  schedscope view key=shop%2Fv12/report.json
  schedscope export --format openmetrics key=shop%2Fv12/report.json

The text says of each item in how many traces it is, and which have most of it; of the reports of several
keys (schedscope analyze key=*/report.json), also in how many of these. The traces of two keys are compared,
each a sample, by

  schedscope compare key=shop%2Fv12/report.json key=shop%2Fv13/report.json

Rows of many keys are for SQL. In DuckDB, in the folder of the outputs of two days (in ClickHouse write file
for read_csv):

-- the worst services by version
SELECT regexp_extract(trace, '^([^/]+)', 1) AS service, regexp_extract(trace, '/([^/]+)/', 1) AS version,
  count(*) AS traces, median(request_p99_ns) / 1e6 AS request_p99_ms, median(p99_ns) / 1e6 AS p99_ms
FROM read_csv('2026-11-26/key=*/traces.csv')
GROUP BY ALL ORDER BY request_p99_ms DESC NULLS LAST, p99_ms DESC;

-- culprits that are new since yesterday
SELECT regexp_extract(trace, '^([^/]+)', 1) AS service, kind, function, count(*) AS traces,
  max(share) AS most, min(title) AS example
FROM read_csv('2026-11-26/key=*/culprits.csv')
WHERE (regexp_extract(trace, '^([^/]+)', 1), kind, coalesce(function, '')) NOT IN
  (SELECT regexp_extract(trace, '^([^/]+)', 1), kind, coalesce(function, '') FROM read_csv('2026-11-25/key=*/culprits.csv'))
GROUP BY ALL ORDER BY traces DESC, most DESC;

-- p99 of requests by route and hour
SELECT regexp_extract(trace, '^([^/]+)', 1) AS service, name AS route, regexp_extract(trace, 'T([0-9]+)', 1) AS hour,
  sum(requests) AS number, median(p99_ns) / 1e6 AS typical_p99_ms, max(p99_ns) / 1e6 AS worst_p99_ms
FROM read_csv('2026-11-26/key=*/requests.csv')
GROUP BY ALL ORDER BY service, route, hour;

-- the traces to look at first
SELECT trace, request_max_ns / 1e6 AS request_max_ms, verdict, title
FROM read_csv('2026-11-26/key=*/traces.csv') AS t
LEFT JOIN (SELECT trace, title FROM read_csv('2026-11-26/key=*/culprits.csv') WHERE place = 1) AS c USING (trace)
ORDER BY request_max_ns DESC NULLS LAST LIMIT 10;

-- what wastes most time
SELECT regexp_extract(trace, '^([^/]+)', 1) AS service, main_cause, count(*) AS traces, sum(total_ns) / 1e9 AS waited_s
FROM read_csv('2026-11-26/key=*/traces.csv')
GROUP BY ALL ORDER BY waited_s DESC LIMIT 20;

--tables says of which tables of schedscope help tables there are rows: requests if it is left out, others
(waits,causes), all or none. With any there is a row for each trace in the table traces. Columns are those
of schedscope help parquet; file is the name that traces.csv has, trace one that is good for joins. key and
day are columns, too: folders have them. The day is that of the recording, in UTC, and unknown before Go 1.25.
A file ends with the trace that fills it, at 32 MB. Of a damaged trace there are rows as far as its report
goes. requests takes some 15 % more time, all five times as much.

-- p99 of all requests together, by version, day and route
SELECT key, day, name AS route, count(*) AS number, quantile_disc(duration, 0.99) / 1e6 AS p99_ms
FROM '2026-11-26/requests/*/*/*.parquet' WHERE complete
GROUP BY ALL ORDER BY p99_ms DESC;

-- the longest requests, with the wall clock and the program
SELECT r.file, r.name, r.duration / 1e6 AS ms, t."commit",
  r.recorded + to_microseconds((r.start - t.origin) // 1000) AS began
FROM '2026-11-26/requests/*/*/*.parquet' AS r JOIN '2026-11-26/traces/*/*/*.parquet' AS t USING (trace)
WHERE r.complete ORDER BY ms DESC LIMIT 10;

Runners, by --runner, which take flags of their own (beam.apache.org/documentation/runners):

  prism      this machine, all processors; the default
  flink      --endpoint HOST:8099 --environment_type LOOPBACK or DOCKER
  spark      --endpoint HOST:8099, as flink
  dataflow   --project P --region R --staging_location gs://BUCKET/staging
  universal  any job server: --endpoint HOST:PORT

Results do not depend on the runner, on the number of workers or on retries. Until a run ends, and after one
that fails or that nobody waits for (--async), the folder _parts has rows on their way. An error of the
storage is tried four times in 21 seconds; then the worker fails what it was given, which runners try
again, except prism, which gives up. Unread is what is damaged or no trace, what vanished or may not be
read, and what has more bytes than --max-bytes (1 GiB), stored or unpacked. Counters traces, unread,
bytes, lost_bytes and events go to the runner's metrics and, at the end, to stderr.

A core analyses about 1.8 million events per second of traces of 5 MB, a million events each: 10^6 of
them take some 160 core hours, which is 8 dollars at 5 cents for each, and reading 5 TB. A worker needs
some 20 times the size of its largest trace; traces above 8 MiB go through a temporary file.
Keep a key below 20,000 traces: merging takes a millisecond for each, however many there are, but
each adds 2 to 6 kB to the report, the more the more groups of requests there are, and a report cannot be
read again beyond 128 MB.
`
