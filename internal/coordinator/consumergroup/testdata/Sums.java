// Writes the XXH3-64 of inputs of many lengths, as hash4j (which Apache Kafka uses)
// computes it: the length, and the hash. Byte i of an input is i * 167 + length.
//
//     oracle java internal/coordinator/consumergroup/testdata/Sums.java > internal/coordinator/consumergroup/testdata/sums.txt
import com.dynatrace.hash4j.hashing.Hashing;

public class Sums {
    public static void main(String[] args) {
        for (int n = 0; n <= 5000; n += n < 300 ? 1 : n < 1100 ? 7 : 331) {
            byte[] b = new byte[n];
            for (int i = 0; i < n; i++) b[i] = (byte) (i * 167 + n);
            System.out.println(n + " " + Long.toHexString(Hashing.xxh3_64().hashBytesToLong(b)));
        }
    }
}
