package group

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Bounds of regular expressions, which Apache Kafka does not have.
const (
	// maxRegexBytes is the longest one that a member may bring.
	maxRegexBytes = 4096
	// maxRegexSize is the largest program, in instructions.
	maxRegexSize = 10_000
)

const (
	// regexRefreshLeast is how long what a group's regular expressions match stays
	// at least; topics that come make no more work than that.
	regexRefreshLeast = 10 * time.Second
	// regexPatience is after which time a resolution that has not come is asked for
	// again.
	regexPatience = time.Minute
)

// regexChange says what a request does to a member's regular expression.
type regexChange uint8

const (
	regexSame    regexChange = iota
	regexWaiting             // it is another one, which has to be resolved first
	regexUsable              // it is another one that is resolved, or none any more
)

// changeRegex takes in another regular expression of a member, and has those of the
// group resolved when that is due.
func (h *consumerOp) changeRegex(old, next *consumergroup.Member) (regexChange, *refusal) {
	g, change, fresh := h.draft, regexSame, false
	if old.Regex != next.Regex {
		change = regexWaiting
		if old.Regex != "" && g.Subscribers(old.Regex) == 0 {
			g.ForgetRegex(old.Regex)
		}
		switch {
		case next.Regex == "":
			change = regexUsable
		case g.Subscribers(next.Regex) == 1: // it is the first
			if _, err := compileRegex(next.Regex); err != nil {
				return change, refusef(kafka.ErrInvalidRegularExpression, "SubscribedTopicRegex `%s` is not a valid regular expression: %v.", short(next.Regex), err)
			}
			fresh = true
		case g.Regex(next.Regex) != nil:
			change = regexUsable
		}
	}
	h.resolve(fresh)
	return change, nil
}

// resolve has the regular expressions of the group resolved if that is due: there are
// new ones, or new topics, or it was done long ago. It is done elsewhere, and the
// group learns of it by Resolved.
func (h *consumerOp) resolve(fresh bool) {
	g, soft := h.draft, h.c.soft(h.draft.ID)
	regexes := g.SubscribedRegexes()
	if len(regexes) == 0 || h.now.Before(soft.resolving) {
		return
	}
	last, version, known := lastResolved(g.Group)
	if known && !h.now.After(last.Add(regexRefreshLeast)) {
		return
	}
	due := fresh || len(regexes) != g.ResolvedCount() || version < h.topics.Created() || h.now.After(last.Add(h.c.settings.Consumer.RegexRefresh))
	if !due {
		return
	}
	soft.resolving = h.now.Add(regexPatience)
	h.c.background(Resolution{Group: g.ID, regexes: regexes, topics: h.topics, allowed: h.allowed, began: h.now})
}

// lastResolved is when the regular expressions of a group were resolved, and with
// which topics; they all are at once.
func lastResolved(g *consumergroup.Group) (at time.Time, version int64, known bool) {
	for _, r := range g.Resolved() {
		return time.UnixMilli(r.Time), r.Version, true
	}
	return time.UnixMilli(0), 0, false
}

// compileRegex makes a program that matches whole names of topics. The syntax is
// that of RE2, as in Apache Kafka.
func compileRegex(text string) (*regexp.Regexp, error) {
	if len(text) > maxRegexBytes {
		return nil, errTooLong
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return nil, errors.New(e.Code.String())
		}
		return nil, err
	}
	if programSize(parsed) > maxRegexSize {
		return nil, errTooLarge
	}
	return regexp.Compile(`\A(?:` + text + `)\z`)
}

var (
	errTooLong  = errors.New("it is longer than 4096 bytes")
	errTooLarge = errors.New("expression too large")
)

// programSize is about how many instructions an expression becomes.
func programSize(re *syntax.Regexp) int {
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxRegexSize+1)
}

// Resolution is a question: what do the regular expressions of a group match?
type Resolution struct {
	Group   string
	regexes []string
	topics  consumergroup.Topics
	allowed func(topic string) bool
	began   time.Time
}

// Resolved is the answer.
type Resolved struct {
	group   string
	regexes map[string]*consumergroup.Resolved
}

// Run matches all topics. It may take seconds, and ends early, with ok false, when
// stopped says so.
func (r Resolution) Run(stopped func() bool) (answer Resolved, ok bool) {
	answer = Resolved{group: r.Group, regexes: map[string]*consumergroup.Resolved{}}
	programs := make([]*regexp.Regexp, 0, len(r.regexes))
	for _, text := range r.regexes {
		answer.regexes[text] = &consumergroup.Resolved{Topics: []string{}, Version: r.topics.Version(), Time: r.began.UnixMilli()}
		program, err := compileRegex(text)
		if err != nil {
			program = nil // Apache has written it; it matches nothing here
		}
		programs = append(programs, program)
	}
	for name := range r.topics.Names() {
		if stopped() {
			return answer, false
		}
		visible, asked := false, false
		for i, program := range programs {
			if program == nil || !program.MatchString(name) {
				continue
			}
			if !asked {
				visible, asked = r.allowed == nil || r.allowed(name), true
			}
			if visible {
				to := answer.regexes[r.regexes[i]]
				to.Topics = append(to.Topics, name)
			}
		}
	}
	for _, to := range answer.regexes {
		slices.Sort(to.Topics)
	}
	return answer, true
}

// Resolved takes in what regular expressions match.
func (c *Core) Resolved(now time.Time, answer Resolved) machine.Decision {
	c.tell(now)
	c.soft(answer.group).resolving = time.Time{}
	g := c.consumer(answer.group)
	if g == nil {
		c.forgetSoft(answer.group)
		return machine.Decision{}
	}
	h := &consumerOp{c: c, now: now, topics: c.topics(), draft: consumergroup.Begin(g), cause: CauseTopics}
	bump := false
	for _, regex := range sortedKeys(answer.regexes) {
		next := answer.regexes[regex]
		if g.Subscribers(regex) == 0 {
			continue
		}
		var before []string
		if old := g.Regex(regex); old != nil {
			before = old.Topics
		}
		bump = bump || !slices.Equal(before, next.Topics)
		h.draft.SetRegex(regex, next)
	}
	if hash := c.hashes.Hash(h.draft.Group, h.topics); bump || hash != g.MetadataHash {
		h.beginEpoch(hash)
		c.soft(g.ID).checked(h.topics, h.draft.Epoch)
	}
	return machine.Decision{Records: h.draft.Records, Done: h.end}
}
