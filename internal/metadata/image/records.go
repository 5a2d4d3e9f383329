package image

import (
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// GroupSize is the most records that Records emits at once.
const GroupSize = 1024

// Records emits the records that give this image when they are replayed on Empty, as
// a snapshot of a cluster at that metadata.version has them: features, with
// metadata.version first, brokers, controllers, topics each with its partitions,
// configurations, quotas, producer ids, ACLs, credentials, tokens. They come in groups
// of at most GroupSize, which emit may keep. The first error of emit ends it. It is an
// error when the image holds something that the metadata.version has no record for.
func (m *Image) Records(mv kafka.MetadataVersion, emit func([]metarec.Versioned) error) error {
	if !mv.Known() {
		return fmt.Errorf("metadata.version level %d is not known", mv)
	}
	w := recordWriter{mv: mv, elr: m.Features.ELREnabled() && mv >= kafka.MetadataVersionELR, emit: emit}
	w.features(m)
	w.cluster(m)
	w.topics(m)
	w.configs(m)
	w.access(m)
	w.flush()
	return w.err
}

// recordWriter collects records into groups. After an error it does nothing.
type recordWriter struct {
	mv    kafka.MetadataVersion
	elr   bool
	emit  func([]metarec.Versioned) error
	group []metarec.Versioned
	err   error
}

func (w *recordWriter) put(r metarec.Message) {
	if w.err != nil {
		return
	}
	if w.group == nil {
		w.group = make([]metarec.Versioned, 0, GroupSize)
	}
	w.group = append(w.group, metarec.At(r, w.mv))
	if len(w.group) == GroupSize {
		w.flush()
	}
}

func (w *recordWriter) flush() {
	if w.err == nil && len(w.group) > 0 {
		w.err = w.emit(w.group)
		w.group = nil
	}
}

// lost records that the metadata.version has no room for something.
func (w *recordWriter) lost(what string) {
	if w.err == nil {
		w.err = fmt.Errorf("metadata.version %s cannot hold %s", w.mv, what)
	}
}

func (w *recordWriter) features(m *Image) {
	put := func(name string, level int16) {
		r := metarec.NewFeatureLevelRecord()
		r.Name, r.FeatureLevel = name, level
		w.put(r)
	}
	put(kafka.FeatureMetadataVersion, int16(w.mv))
	for name, level := range m.Features.Levels.All() {
		put(name, level)
	}
}

func (w *recordWriter) cluster(m *Image) {
	for b := range m.Cluster.Brokers.Values() {
		w.broker(b)
	}
	if m.Cluster.Controllers.Len() > 0 && w.mv < kafka.MetadataVersionControllerRecord {
		w.lost("registrations of controllers")
	}
	for r := range m.Cluster.Controllers.Values() {
		w.put(r)
	}
}

func (w *recordWriter) broker(b *Broker) {
	r := metarec.NewRegisterBrokerRecord()
	r.BrokerID, r.BrokerEpoch, r.IncarnationID = b.ID, b.Epoch, b.Incarnation
	r.EndPoints, r.Features, r.Rack = b.Endpoints, b.Features, b.Rack
	r.Fenced, r.InControlledShutdown = b.Fenced, b.InControlledShutdown
	r.IsMigratingZkBroker, r.LogDirs, r.CordonedLogDirs = b.MigratingZK, b.Directories, b.Cordoned
	switch {
	case b.MigratingZK && w.mv < kafka.MetadataVersionMigration:
		w.lost(fmt.Sprintf("that broker %d migrates from ZooKeeper", b.ID))
	case len(b.Directories) > 0 && w.mv < kafka.MetadataVersionDirectories:
		w.lost(fmt.Sprintf("the log directories of broker %d", b.ID))
	case b.Cordoned != nil && w.mv < kafka.MetadataVersionCordonedDirs:
		w.lost(fmt.Sprintf("the cordoned log directories of broker %d", b.ID))
	}
	w.put(r)
}

func (w *recordWriter) topics(m *Image) {
	for t := range m.Topics.All() {
		r := metarec.NewTopicRecord()
		r.Name, r.TopicID = t.Name, t.ID
		w.put(r)
		for id, p := range t.All() {
			if p.directories != nil && w.mv < kafka.MetadataVersionDirectories {
				w.lost("the log directories of replicas")
			}
			w.put(p.record(t.ID, id, w.mv, w.elr))
		}
	}
}

func (w *recordWriter) configs(m *Image) {
	for resource, values := range m.Configs.All() {
		for key, value := range values.All() {
			r := metarec.NewConfigRecord()
			r.ResourceType, r.ResourceName, r.Name, r.Value = int8(resource.Type), resource.Name, key, &value
			w.put(r)
		}
	}
}

// access writes quotas, producer ids, ACLs, credentials and tokens.
func (w *recordWriter) access(m *Image) {
	for q := range m.Quotas.Values() {
		for key, value := range q.Values.All() {
			r := metarec.NewClientQuotaRecord()
			r.Entity, r.Key, r.Value = q.Entity, key, value
			w.put(r)
		}
	}
	if m.NextProducerID >= 0 {
		r := metarec.NewProducerIdsRecord()
		r.BrokerID, r.NextProducerID = kafka.NoBroker, m.NextProducerID
		w.put(r)
	}
	for r := range m.ACLs.Values() {
		w.put(r)
	}
	if m.SCRAM.Len() > 0 && w.mv < kafka.MetadataVersionSCRAM {
		w.lost("SCRAM credentials")
	}
	for r := range m.SCRAM.Values() {
		w.put(r)
	}
	if m.Tokens.Len() > 0 && w.mv < kafka.MetadataVersionTokens {
		w.lost("delegation tokens")
	}
	for r := range m.Tokens.Values() {
		w.put(r)
	}
}
