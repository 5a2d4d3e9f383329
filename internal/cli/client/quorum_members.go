package client

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/config/properties"
	"barnabas/internal/kafka"
)

// quorumMember is a controller that becomes a voter or ceases to be one.
type quorumMember struct {
	id        int32
	directory kafka.UUID
	listeners []kmsg.AddRaftVoterRequestListener
}

func memberToRemove(args *argparse.Args) (quorumMember, error) {
	id, _ := args.Int("--controller-id")
	if id < 0 {
		return quorumMember{}, plain("Invalid negative --controller-id: %d", id)
	}
	text, _ := args.Value("--controller-directory-id")
	directory, err := parseUUID(text)
	if err != nil {
		return quorumMember{}, plain("Failed to parse --controller-directory-id: %s", err)
	}
	return quorumMember{id: int32(id), directory: directory}, nil
}

// removeController takes a voter out of the quorum (KIP-853), and forgets its
// registration if --unregister asks for it.
func (d *door) removeController(ctx context.Context, m quorumMember, args *argparse.Args) error {
	if args.Has("--dry-run") {
		fmt.Fprintf(d.o.Stdout, "DRY RUN of removing KRaft controller %d with directory id %s\n", m.id, m.directory)
		return nil
	}
	req := kmsg.NewPtrRemoveRaftVoterRequest()
	req.VoterID, req.VoterDirectoryID = m.id, m.directory
	resp, err := d.askActive(ctx, req)
	if err != nil {
		return err
	}
	r := resp.(*kmsg.RemoveRaftVoterResponse)
	if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
		return err
	}
	fmt.Fprintf(d.o.Stdout, "Removed KRaft controller %d with directory id %s\n", m.id, m.directory)
	if !args.Has("--unregister") {
		return nil
	}
	forget := kmsg.NewPtrUnregisterControllerRequest()
	forget.ControllerID = m.id
	answer, err := d.askActive(ctx, forget)
	if err != nil {
		return err
	}
	u := answer.(*kmsg.UnregisterControllerResponse)
	return codeError(u.ErrorCode, u.ErrorMessage)
}

// addController makes the controller of a configuration file a voter.
func (d *door) addController(ctx context.Context, file string, dryRun bool) error {
	m, err := memberOfFile(file)
	if err != nil {
		return err
	}
	var endpoints []string
	for _, l := range m.listeners {
		endpoints = append(endpoints, fmt.Sprintf("%s://%s:%d", l.Name, l.Host, l.Port))
	}
	what := fmt.Sprintf("controller %d with directory id %s and endpoints: %s", m.id, m.directory, strings.Join(endpoints, ", "))
	if dryRun {
		fmt.Fprintln(d.o.Stdout, "DRY RUN of adding", what)
		return nil
	}
	req := kmsg.NewPtrAddRaftVoterRequest()
	req.TimeoutMillis, req.VoterID, req.VoterDirectoryID = int32(adminTimeout.Milliseconds()), m.id, m.directory
	req.Listeners, req.AckWhenCommitted = m.listeners, true
	resp, err := d.askActive(ctx, req)
	if err != nil {
		return err
	}
	r := resp.(*kmsg.AddRaftVoterResponse)
	if err := codeError(r.ErrorCode, r.ErrorMessage); err != nil {
		return err
	}
	fmt.Fprintln(d.o.Stdout, "Added", what)
	return nil
}

// memberOfFile reads who a controller is from its configuration file and from the
// meta.properties of its metadata directory.
func memberOfFile(file string) (quorumMember, error) {
	props, err := readProperties(file, nil)
	if err != nil {
		return quorumMember{}, err
	}
	id, err := strconv.ParseInt(props["node.id"], 10, 32)
	if err != nil || id < 0 {
		return quorumMember{}, plain("node.id not found in configuration file. Is this a valid controller configuration file?")
	}
	m := quorumMember{id: int32(id)}
	dir := cmp.Or(props["metadata.log.dir"], cmp.Or(props["log.dirs"], props["log.dir"]))
	dir, _, _ = strings.Cut(dir, ",")
	if dir == "" {
		return m, plain("Neither metadata.log.dir, log.dirs nor log.dir was found in the configuration file.")
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir), "meta.properties"))
	if err != nil {
		return m, err
	}
	list, err := properties.Parse(text)
	if err != nil {
		return m, err
	}
	if m.directory, err = parseUUID(properties.Map(list)["directory.id"]); err != nil {
		return m, err
	}
	m.listeners, err = controllerListeners(props)
	return m, err
}

func controllerListeners(props map[string]string) ([]kmsg.AddRaftVoterRequestListener, error) {
	var out []kmsg.AddRaftVoterRequestListener
	for name := range strings.SplitSeq(props["controller.listener.names"], ",") {
		name = strings.TrimSpace(name)
		for _, list := range []string{props["advertised.listeners"], props["listeners"]} {
			l, ok, err := listenerIn(list, name)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, l)
				break
			}
		}
	}
	if len(out) == 0 {
		return nil, plain("controller.listener.names does not name a listener of the configuration file.")
	}
	return out, nil
}

// listenerIn finds NAME://host:port in a list of listeners.
func listenerIn(list, name string) (l kmsg.AddRaftVoterRequestListener, ok bool, err error) {
	for entry := range strings.SplitSeq(list, ",") {
		listener, address, found := strings.Cut(strings.TrimSpace(entry), "://")
		if !found || listener != name {
			continue
		}
		at := strings.LastIndex(address, ":")
		if at < 0 {
			return l, false, plain("The listener %s has no port.", entry)
		}
		port, err := strconv.ParseUint(address[at+1:], 10, 16)
		if err != nil {
			return l, false, plain("The listener %s has no port.", entry)
		}
		l = kmsg.NewAddRaftVoterRequestListener()
		l.Name, l.Host, l.Port = name, strings.Trim(address[:at], "[]"), uint16(port)
		if l.Host == "" {
			l.Host = "localhost"
		}
		return l, true, nil
	}
	return l, false, nil
}
