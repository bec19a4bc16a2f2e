package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// TestS3 reads traces from a server of S3's protocol, and writes there: the report is that of the
// same traces in a folder.
func TestS3(t *testing.T) {
	store := s3mem.New()
	server := httptest.NewServer(gofakes3.New(store).Server())
	defer server.Close()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"} {
		t.Setenv(name, value)
	}
	for _, bucket := range []string{"traces", "reports"} {
		if err := store.CreateBucket(bucket); err != nil {
			t.Fatal(err)
		}
	}
	list := []string{"mixed.go1.26.p2.trace", "quiet.go1.26.p4.trace", "broken/truncated-first.trace"}
	dir := folderOf(t, list...)
	for _, path := range list {
		name := filepath.Base(path)
		data := read(t, dir, name)
		if _, err := store.PutObject("traces", "shop/"+name, map[string]string{}, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), "s3://traces/shop/*", "s3://reports/today", "all"); err != nil {
		t.Fatal(err)
	}
	o, err := store.GetObject("reports", "today/key=all/"+reportFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Contents.Close()
	got, err := io.ReadAll(o.Contents)
	if want := read(t, results(t, dir+"/*", "all"), "key=all", reportFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the report is another one, %v", err)
	}
}
