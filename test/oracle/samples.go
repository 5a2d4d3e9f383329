package oracle

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sample is one run of a tool as Apache Kafka 4.4.0 printed it.
type sample struct {
	file           string // "topics.txt"
	number         int    // in its file, from 1
	args           []string
	stdin          string
	stdout, stderr string
	exit           int
}

// name is how the table of treatments calls the sample.
func (s sample) name() string { return fmt.Sprintf("%s %d", s.file, s.number) }

// interruptedExit stands for a tool that still ran when it was interrupted.
const interruptedExit = 124

// parseSamples reads a file of samples: "$ command", then the parts "[stdin]",
// "[stdout]", "[stderr]" and "[exit N]".
func parseSamples(file, text string) ([]sample, error) {
	var out []sample
	var s sample
	var part *string
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "$ ") && part == nil:
			args, err := shellWords(bare[2:])
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, bare, err)
			}
			s = sample{file: file, number: len(out) + 1, args: args}
		case bare == "[stdin]":
			part = &s.stdin
		case bare == "[stdout]":
			part = &s.stdout
		case bare == "[stderr]":
			part = &s.stderr
		case bare == "[stdout: empty]" || bare == "[stderr: empty]":
			part = new(string)
		case bare == "[stdout: no newline at its end]":
			s.stdout = strings.TrimSuffix(s.stdout, "\n")
		case bare == "[stderr: no newline at its end]":
			s.stderr = strings.TrimSuffix(s.stderr, "\n")
		case strings.HasPrefix(bare, "[exit ") && strings.HasSuffix(bare, "]"):
			exit, err := strconv.Atoi(bare[len("[exit ") : len(bare)-1])
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, bare, err)
			}
			s.exit = exit
			out, part = append(out, s), nil
		case part != nil:
			*part += line
		case bare != "" && !strings.HasPrefix(bare, "#"):
			return nil, fmt.Errorf("%s: %q belongs to no sample", file, bare)
		}
	}
	if part != nil {
		return nil, fmt.Errorf("%s: the last sample has no exit code", file)
	}
	return out, nil
}

// shellWords splits a command as a shell does; only single quotes quote.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quoted, open := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, open = !quoted, true
		case r == ' ' && !quoted:
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quoted {
		return nil, errors.New("a quote is open")
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// What differs from run to run, and what stands for it.
var (
	sampleUUID  = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
	sampleStamp = regexp.MustCompile(`\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d[:,]\d{3}\b`)
	sampleMs    = regexp.MustCompile(`\b1[5-9]\d{11}\b`)
	sampleID    = regexp.MustCompile(`[A-Za-z0-9_-]{22,}`)
	sampleEpoch = regexp.MustCompile(`\b(Epoch|HighWatermark): *\d+`)
)

// nameWhatVaries gives ids, times and offsets of the metadata log names.
func nameWhatVaries(text string) string {
	text = sampleUUID.ReplaceAllString(text, "<uuid>")
	text = sampleStamp.ReplaceAllString(text, "<time>")
	text = sampleMs.ReplaceAllString(text, "<ms>")
	text = sampleEpoch.ReplaceAllString(text, "$1: <n>")
	return sampleID.ReplaceAllStringFunc(text, func(word string) string {
		lower, upper := strings.ToUpper(word) != word, strings.ToLower(word) != word
		if len(word) == 22 && lower && upper && !strings.HasSuffix(word, "Exception") {
			return "<id>"
		}
		return word
	})
}

var (
	numberShape = regexp.MustCompile(`-?\d+(\.\d+)?(E-?\d+)?|NaN`)
	blankShape  = regexp.MustCompile(`[ \t]+`)
)

// shapeOf leaves of a text what is no number, and runs of blanks as one.
func shapeOf(text string) string {
	return blankShape.ReplaceAllString(numberShape.ReplaceAllString(text, "#"), " ")
}

// endsOf is the first line and the last.
func endsOf(text string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	return lines[0] + lines[len(lines)-1] + "\n"
}

// inAnyOrder sorts the lines, and in them what commas separate; a list of configs
// may have something before it.
func inAnyOrder(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		parts := strings.Split(line, ",")
		head, first, ok := strings.Cut(parts[0], "Configs: ")
		if ok {
			parts[0] = first
			head += "Configs: "
		} else {
			head = ""
		}
		slices.Sort(parts)
		lines[i] = head + strings.Join(parts, ",")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

const (
	stackMark = "[… Java stack]"
	tableMark = "[… option table]"
)

var (
	logLineStart   = regexp.MustCompile(`^\[(20\d\d-|<time>)`)
	logLineEnd     = regexp.MustCompile(`\([\w.$]+\)$`)
	exceptionLine  = regexp.MustCompile(`^(Caused by: )?([a-z][\w]*\.)+[A-Z][\w$]*(Exception|Error)\b`)
	optionTable    = regexp.MustCompile(`(?m)^Option( \(\* = required\))?\s+Description\s*$`)
	protocolAdvert = "The consumer rebalance protocol (KIP-848) is production-ready!"
)

// stderrCore is what a user is told on standard error: without the lines of a
// log, Java exceptions with their stacks, and tables of options. Apache's
// consumers also advertise a protocol there, which is no message of the tool.
func stderrCore(text string) string {
	if at := optionTable.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	var kept []string
	inLog := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case logLineStart.MatchString(line):
			inLog = !logLineEnd.MatchString(line)
		case inLog:
			inLog = !logLineEnd.MatchString(line)
		case line == stackMark || line == tableMark || exceptionLine.MatchString(line) || strings.HasPrefix(line, protocolAdvert):
		default:
			kept = append(kept, line)
		}
	}
	return strings.TrimRight(strings.Join(kept, "\n"), "\n")
}

// exceptionTexts are the messages of the exceptions that a sample's standard error
// shows.
func exceptionTexts(stderr string) []string {
	var out []string
	for line := range strings.SplitSeq(stderr, "\n") {
		if !exceptionLine.MatchString(line) {
			continue
		}
		if i := strings.LastIndex(line, "Exception: "); i >= 0 {
			if text := line[i+len("Exception: "):]; !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}
