package parquet

// Help explains the export of many traces. internal/sqltest runs its queries.
const Help = `schedscope export --format parquet -o tables TRACE... writes the tables of schedscope help
tables, each trace's in files of its own, for engines that read folders of Parquet files:

  tables/waits/ID.parquet    a folder for each table, in it a file for each trace
  tables/traces/ID.parquet   a row about the trace, put in place when its other files are there

ID is the name of the trace's file and the beginning of the SHA-256 of its content, so that
another export of the same trace replaces its files, and any other adds to them. Nothing is ever
removed: to take a trace out, remove its files. --table waits,causes writes only some tables. A
trace that cannot be read is reported and skipped. Of what a trace is too old to contain (before
Go 1.22: starts, steals, queues, causes) it has no file.

Columns are those of csv with the same names, then of each row:
  host        --host NAME; else null
  service     --service NAME; else the name given to package capture; else null
  go_version  of the environment record in the trace or next to it (TRACE.env.json), as go1.26.8;
              else of the trace's format, as go1.26
  file        name of the trace's file
  recorded    wall clock when the trace begins, a timestamp in UTC; null before Go 1.25
  trace       ID
Times, lengths, ids and counts are 64-bit integers, times on the trace's own clock:
recorded + (time - traces.origin) is the wall clock. Counts from 2^63 on are null.

In DuckDB, in the folder that has tables in it:

-- functions by waiting, all traces together: the numbers of schedscope analyze
SELECT "function", count(*) AS waits, sum(duration)::BIGINT AS waited_ns,
       quantile_disc(duration, 0.99) AS p99_ns, max(duration) AS max_ns
FROM 'tables/waits/*.parquet' WHERE complete AND NOT system
GROUP BY "function" ORDER BY waited_ns DESC LIMIT 10;

-- latency by service, version and hour
SELECT service, go_version, date_trunc('hour', recorded) AS hour, count(DISTINCT trace) AS traces,
       count(*) AS waits, quantile_disc(duration, 0.5) AS p50_ns,
       quantile_disc(duration, 0.99) AS p99_ns
FROM 'tables/waits/*.parquet' WHERE complete AND NOT system
GROUP BY ALL ORDER BY ALL;

-- traces by their p99
SELECT trace, host, count(*) AS waits, quantile_disc(duration, 0.99) AS p99_ns,
       sum(duration)::BIGINT AS waited_ns
FROM 'tables/waits/*.parquet' WHERE complete AND NOT system
GROUP BY ALL ORDER BY p99_ns DESC, trace;

-- longest waits, with the wall clock
SELECT w.trace, w.goroutine, w."function", w.duration,
       w.recorded + to_microseconds((w.start - t.origin) // 1000) AS began
FROM 'tables/waits/*.parquet' w JOIN 'tables/traces/*.parquet' t USING (trace)
WHERE w.complete AND NOT w.system ORDER BY w.duration DESC, w.start LIMIT 10;

-- what waits were lost to, by how they began
SELECT w.origin, c.cause, count(*) AS waits, sum(c.ns)::BIGINT AS lost_ns
FROM 'tables/causes/*.parquet' c JOIN 'tables/waits/*.parquet' w USING (trace, goroutine, "end")
GROUP BY ALL ORDER BY lost_ns DESC, origin, cause;

-- who stole from whom
SELECT trace, victim, thief, count(*) AS steals, sum(size)::BIGINT AS goroutines
FROM 'tables/steals/*.parquet' GROUP BY ALL ORDER BY steals DESC, trace, victim, thief;

-- goroutines in all run queues together, the most in each millisecond with a change
WITH lengths AS (
  SELECT trace, proc, time, len + runnext AS length, file_row_number AS n
  FROM read_parquet('tables/queues/*.parquet', file_row_number = true)),
changes AS (
  SELECT *, length - lag(length, 1, 0) OVER (PARTITION BY trace, proc ORDER BY n) AS change
  FROM lengths),
depths AS (
  SELECT *, sum(change) OVER (PARTITION BY trace ORDER BY n ROWS UNBOUNDED PRECEDING) AS depth
  FROM changes)
SELECT d.trace, (d.time - t.origin) // 1000000 AS ms, max(d.depth)::BIGINT AS depth
FROM depths d JOIN 'tables/traces/*.parquet' t USING (trace) GROUP BY ALL ORDER BY ALL;

Elsewhere, as their manuals have it:
  Spark       spark.read.parquet("tables/waits")
  ClickHouse  SELECT count() FROM file('tables/waits/*.parquet')
  Trino       CREATE TABLE waits (...) WITH (format = 'PARQUET',
              external_location = 's3://bucket/tables/waits')`
