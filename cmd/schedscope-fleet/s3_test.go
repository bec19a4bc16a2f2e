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
	list := []string{"http.trace", "mixed.go1.26.p2.trace", "quiet.go1.26.p4.trace", "broken/truncated-first.trace"}
	dir := folderOf(t, list...)
	for _, path := range list {
		name := filepath.Base(path)
		data := read(t, dir, name)
		if _, err := store.PutObject("traces", "shop/"+name, map[string]string{}, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Fatal(err)
		}
	}
	setTables(t, "all", 1)
	if err := run(t.Context(), "s3://traces/shop/*", "s3://reports/today", "all"); err != nil {
		t.Fatal(err)
	}
	get := func(name string) []byte {
		t.Helper()
		o, err := store.GetObject("reports", "today/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Contents.Close()
		data, err := io.ReadAll(o.Contents)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	out := results(t, dir+"/*", "all")
	if !bytes.Equal(get("key=all/"+reportFile), read(t, out, "key=all", reportFile)) {
		t.Error("the report is another one")
	}
	for name, want := range rowFiles(t, out) {
		if string(get(name)) != want {
			t.Errorf("%s is another one", name)
		}
	}
	left, err := store.ListBucket("reports", &gofakes3.Prefix{HasPrefix: true, Prefix: "today/" + partsFolder}, gofakes3.ListBucketPage{})
	if err != nil || len(left.Contents) > 0 {
		t.Errorf("%d parts are left, %v", len(left.Contents), err)
	}
}
