package server
import ("testing";"os";"fmt";"net";"sync";"time";"golang.org/x/sys/unix")
func TestZZServe(t *testing.T){
 if os.Getenv("ZZ")!="serve" {t.Skip()}
 f,_:=os.CreateTemp("","zz"); defer os.Remove(f.Name())
 var mu sync.Mutex; off:=int64(0)
 s:=start(t, func(_ *Conn, run []*Request){
   var v [][]byte
   for _,r:=range run { v=append(v, r.body) }
   mu.Lock(); n,_:=unix.Pwritev(int(f.Fd()), v, off); off+=int64(n); if off>1<<28 {off=0}; mu.Unlock()
   echoAll(nil,run)
 }, func(o *Options){o.Listeners[0].Address="127.0.0.1:29555"})
 fmt.Println("up"); b:=make([]byte,1); os.Stdin.Read(b)
 fmt.Println(s.stats.Requests[0].Count.Load())
}
func TestZZClient(t *testing.T){
 if os.Getenv("ZZ")!="client" {t.Skip()}
 fr:=frame(1,produce(16<<10)); var wg sync.WaitGroup; st:=time.Now()
 for range 4 { wg.Go(func(){ c,err:=net.Dial("tcp","127.0.0.1:29555"); if err!=nil {t.Fatal(err)}; pipeline(&client{c,t},fr,5000,5)}) }
 wg.Wait(); fmt.Println(float64(20000*16384)/time.Since(st).Seconds()/1e6,"MB/s")
}
