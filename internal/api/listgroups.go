package api

import (
	"sync"
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listGroups serves ListGroups v0-v5: v4 states and a filter of them (KIP-518), v5
// types and a filter of them (KIP-848). It lists the groups of this node's
// coordinators that the client may describe: all, with the right to describe the
// cluster. If one of them is being loaded the list would not be whole: that is an
// error.
func (b *Broker) listGroups(c *call) {
	req := c.Msg.(*kmsg.ListGroupsRequest)
	partitions := b.Groups.Partitions()
	resp := kmsg.NewPtrListGroupsResponse()
	var mu sync.Mutex // guards resp until all are done
	all := newGathering(len(partitions), func() {
		if resp.ErrorCode != 0 {
			resp.Groups = nil
		}
		c.ReplyMessage(resp)
	})
	everything := c.mayCluster(kmsg.ACLOperationDescribe)
	for _, partition := range partitions {
		b.Groups.Do(partition, func(core *group.Core, _ time.Time) machine.Decision {
			list := core.List(req.StatesFilter, req.TypesFilter)
			mu.Lock()
			for i := range list {
				if everything || c.mayGroup(kmsg.ACLOperationDescribe, list[i].Group) {
					resp.Groups = append(resp.Groups, list[i])
				}
			}
			mu.Unlock()
			all.done()
			return machine.Decision{}
		}, func(code kafka.ErrorCode) {
			if code != kafka.ErrNotCoordinator {
				mu.Lock()
				resp.ErrorCode = int16(code)
				mu.Unlock()
			}
			all.done()
		})
	}
}
