package org.apache.kafka.common.utils;

/** The connectors for files of release 4.3.1 ask this class, which is elsewhere in 4.4.0, for their version. */
public class AppInfoParser {
    public static String getVersion() {
        return "4.3.1";
    }
}
