package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/options"
	"barnabas/internal/config/properties"
	"barnabas/internal/kafka"
)

// IO is what a tool reads and writes, and the context whose end interrupts it.
type IO struct {
	Context context.Context
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// Progress is told how far a tool is that takes long; nil if nobody wants to know.
	Progress func(string)
}

// progressf says how far the tool is.
func (o IO) progressf(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// logf writes a line in the form of Apache's tools' log.
func (o IO) logf(level, logger, format string, args ...any) {
	stamp := strings.Replace(time.Now().Format("2006-01-02 15:04:05.000"), ".", ",", 1)
	fmt.Fprintf(o.Stderr, "[%s] %s %s (%s)\n", stamp, level, fmt.Sprintf(format, args...), logger)
}

// parse reads the command line; done is true when there is nothing left to do
// and exit is the exit code. before stands before the text of a mistake.
func parse(set *options.Set, args []string, o IO, before string) (done bool, exit int) {
	err := set.Parse(args)
	switch {
	case err != nil:
		return true, usageExit(set, o, fmt.Errorf("%s%w", before, err))
	case set.Has("help"):
		set.Usage(o.Stdout)
		return true, 0
	case set.Has("version"):
		fmt.Fprintln(o.Stdout, kafka.Release)
		return true, 0
	}
	return false, 0
}

// missingArgument is the mistake that one of the options is not given, nil if all are.
func missingArgument(set *options.Set, names ...string) error {
	for _, name := range names {
		if !set.Has(name) {
			return fmt.Errorf(`Missing required argument "[%s]"`, name)
		}
	}
	return nil
}

// usageExit ends a tool that was called in a wrong way: the mistake and the table of
// options go to standard error.
func usageExit(set *options.Set, o IO, err error) int {
	fmt.Fprintln(o.Stderr, err)
	set.Usage(o.Stderr)
	return 1
}

// parseArgs reads the command line of a tool on argparse4j; done is true when there
// is nothing left to do and exit is the exit code.
func parseArgs(tool *argparse.Tool, args []string, o IO) (parsed *argparse.Args, done bool, exit int) {
	parsed, err := tool.Parse(args)
	var help *argparse.HelpRequest
	switch {
	case errors.As(err, &help):
		fmt.Fprint(o.Stdout, help.Text)
		return nil, true, 0
	case err != nil:
		fmt.Fprintln(o.Stderr, err)
		return nil, true, 1
	}
	return parsed, false, 0
}

// toldExit ends a tool: an error is told as Apache's tools do, the class of the
// exception with its text.
func toldExit(o IO, err error) int {
	if err == nil {
		return 0
	}
	var plain *plainError
	if errors.As(err, &plain) {
		fmt.Fprintln(o.Stderr, plain)
	} else {
		fmt.Fprintf(o.Stderr, "%s: %s\n", exception(err), err)
	}
	return 1
}

// plainError is told without the class of an exception.
type plainError struct{ text string }

func (p *plainError) Error() string { return p.text }

func plain(format string, args ...any) error { return &plainError{fmt.Sprintf(format, args...)} }

// readProperties reads a file of properties, "" for none, and sets what pairs of
// "name=value" say.
func readProperties(file string, pairs []string) (map[string]string, error) {
	props := map[string]string{}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		list, err := properties.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		props = properties.Map(list)
	}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if name == "" {
			return nil, fmt.Errorf("Invalid property: %s", pair)
		}
		props[name] = value
	}
	return props, nil
}

// tellOfDeprecated says which options are to be written otherwise, in the format's
// words: it is given the old name and the new one. renamed lists old and new in turn.
func tellOfDeprecated(set *options.Set, o IO, format string, renamed ...string) {
	for i := 0; i < len(renamed); i += 2 {
		if set.Has(renamed[i]) {
			fmt.Fprintf(o.Stdout, format, renamed[i], renamed[i+1])
		}
	}
}

// connectAdmin opens a client to the cluster of --bootstrap-server by the properties
// of --command-config. The context ends after so long, 0 for what
// default.api.timeout.ms says; done releases both.
func connectAdmin(set *options.Set, o IO, atMost time.Duration) (ctx context.Context, cl *kgo.Client, done func(), err error) {
	props, err := readProperties(set.Get("command-config"), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	props["bootstrap.servers"] = set.Get("bootstrap-server")
	if atMost == 0 {
		if atMost, err = kafkaclient.APITimeout(props); err != nil {
			return nil, nil, nil, asConfigError(err)
		}
	}
	if cl, err = open(kafkaclient.ForAdmin, props, o); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(o.Context, atMost)
	return ctx, cl, func() { cancel(); cl.Close() }, nil
}

// open opens a client; properties that have no effect are logged.
func open(kind kafkaclient.Kind, props map[string]string, o IO, more ...kgo.Opt) (*kgo.Client, error) {
	cl, warnings, err := kafkaclient.New(kind, props, more...)
	for _, w := range warnings {
		o.logf("WARN", "barnabas.client", "%s", w)
	}
	return cl, asConfigError(err)
}

// asConfigError names an error of a client's properties as Apache's clients do.
func asConfigError(err error) error {
	if err == nil {
		return nil
	}
	return &failure{"org.apache.kafka.common.config.ConfigException", err.Error()}
}

// failure is an error as a user of Apache's tools knows it: a text, and the name
// of the Java class that scripts look for.
type failure struct {
	exception, text string
}

func (f *failure) Error() string { return f.text }

func illegalArgument(format string, args ...any) error {
	return &failure{"java.lang.IllegalArgumentException", fmt.Sprintf(format, args...)}
}

// codeError is the error of an answer; a nil error means there is none. Brokers
// send a text of their own with some errors.
func codeError(code int16, message *string) error {
	if code == 0 {
		return nil
	}
	c := kafka.ErrorCode(code)
	text := c.String()
	if message != nil && *message != "" {
		text = *message
	} else if e := kerr.TypedErrorForCode(code); e != nil {
		text = e.Description
	}
	return codeFailure(c, text)
}

// answerError is the error of an answer.
type answerError struct {
	*failure
	code kafka.ErrorCode
}

func (e *answerError) Unwrap() error { return e.failure }

func codeFailure(code kafka.ErrorCode, text string) error {
	return &answerError{&failure{code.Exception(), text}, code}
}

// codeOf is the code of an answer's error, kafka.ErrUnknownServerError for other
// errors.
func codeOf(err error) kafka.ErrorCode {
	var answer *answerError
	switch {
	case err == nil:
		return kafka.ErrNone
	case errors.As(err, &answer):
		return answer.code
	}
	return kafka.ErrUnknownServerError
}

// exception is the class name that goes with err.
func exception(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.exception
	}
	var mistake *options.Error
	if errors.As(err, &mistake) {
		return mistake.Class
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return kafka.ErrRequestTimedOut.Exception()
	}
	var k *kerr.Error
	if errors.As(err, &k) {
		return kafka.ErrorCode(k.Code).Exception()
	}
	return "org.apache.kafka.common.KafkaException"
}

// adminTimeout is how long an administrative call may take (default.api.timeout.ms
// of Apache's admin client).
const adminTimeout = 60 * time.Second
