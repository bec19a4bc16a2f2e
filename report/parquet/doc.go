// Package parquet writes the tables of package report as Parquet files, for DuckDB
// and other engines. It is the only importer of github.com/parquet-go. This package
// promises nothing to other modules.
package parquet
