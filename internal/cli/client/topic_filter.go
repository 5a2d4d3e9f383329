package client

import (
	"regexp"
	"strings"
)

// topicFilter makes a predicate from an expression as Kafka's tools understand
// it (class TopicFilter.IncludeList): names or regular expressions, separated by
// commas, that match the whole name. An empty expression allows everything.
func topicFilter(expression string) (func(string) bool, error) {
	clean := strings.Trim(strings.NewReplacer(",", "|", " ", "").Replace(strings.TrimSpace(expression)), `"'`)
	if clean == "" {
		return func(string) bool { return true }, nil
	}
	re, err := regexp.Compile("^(?:" + clean + ")$")
	if err != nil {
		return nil, &failure{"java.lang.RuntimeException", clean + " is an invalid regex."}
	}
	return re.MatchString, nil
}
