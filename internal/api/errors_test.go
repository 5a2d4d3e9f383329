package api

import (
	"log/slog"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/metrics"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// counted gives the lines of the metrics page about errors.
func counted(t *testing.T, errs *metrics.Errors) string {
	t.Helper()
	r, err := metrics.NewRegistry(func(s *metrics.Scrape) {
		errs.Collect(s, func(key int16) string { return kmsg.NameForKey(key) })
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	var lines []string
	for line := range strings.Lines(w.Body.String()) {
		if rest, ok := strings.CutPrefix(line, "kafka_network_requestmetrics_errors_total"); ok {
			lines = append(lines, strings.TrimSpace(rest))
		}
	}
	return strings.Join(lines, "\n")
}

func TestErrorsOfAnswersAreCounted(t *testing.T) {
	errs := metrics.NewErrors(kmsg.MaxKey + 1)
	c := newErrorCounter(errs, []kmsg.Key{kmsg.Metadata, kmsg.DescribeCluster, kmsg.ApiVersions})
	m := kmsg.NewPtrMetadataResponse()
	for _, code := range []kafka.ErrorCode{kafka.ErrNone, kafka.ErrUnknownTopicOrPartition, kafka.ErrUnknownTopicOrPartition} {
		topic := kmsg.NewMetadataResponseTopic()
		topic.ErrorCode = int16(code)
		p := kmsg.NewMetadataResponseTopicPartition()
		p.ErrorCode = int16(kafka.ErrLeaderNotAvailable)
		topic.Partitions = append(topic.Partitions, p, kmsg.NewMetadataResponseTopicPartition())
		m.Topics = append(m.Topics, topic)
	}
	c.count(int16(kmsg.Metadata), m)
	d := kmsg.NewPtrDescribeClusterResponse()
	d.ErrorCode = int16(kafka.ErrUnsupportedVersion)
	c.count(int16(kmsg.DescribeCluster), d)
	c.count(int16(kmsg.ApiVersions), kmsg.NewPtrApiVersionsResponse())
	want := `{error="LEADER_NOT_AVAILABLE",request="Metadata"} 3
{error="UNKNOWN_TOPIC_OR_PARTITION",request="Metadata"} 2
{error="UNSUPPORTED_VERSION",request="DescribeCluster"} 1`
	if got := counted(t, errs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Every answer with an error code anywhere in it has it where it is looked for.
func TestErrorCodesAreFoundInEveryAnswer(t *testing.T) {
	for key := kmsg.Key(0); key <= kmsg.MaxKey; key++ {
		resp := key.Response()
		if resp == nil {
			continue
		}
		v := reflect.ValueOf(resp).Elem()
		want := fill(v)
		got := 0
		findPlaces(v.Type()).count(v, func(code int16) { got += int(code) })
		if got != want {
			t.Errorf("%s: codes with the sum %d, want %d", key.Name(), got, want)
		}
	}
}

// fill gives every slice two elements and every error code a number, and returns the
// sum of these.
func fill(v reflect.Value) (sum int) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported():
		case f.Kind() == reflect.Struct:
			sum += fill(f)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			f.Set(reflect.MakeSlice(f.Type(), 2, 2))
			sum += fill(f.Index(0)) + fill(f.Index(1))
		case v.Type().Field(i).Name == "ErrorCode":
			f.SetInt(3)
			sum += 3
		}
	}
	return sum
}
