package sqlservercdc.interop;

import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * Reads a connector's own metrics over JMX, to learn without changing its configuration how far it
 * is: Debezium has no callback for the end of a snapshot.
 */
final class ConnectorMetrics implements AutoCloseable {
    private static final long INTERVAL_MILLIS = 10;

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final ObjectName pattern;
    private final Consumer<String> onPhase;
    private final Set<String> seen = new HashSet<>();
    private volatile boolean closed;

    ConnectorMetrics(Properties properties, Consumer<String> onPhase) {
        this.onPhase = onPhase;
        try {
            pattern = new ObjectName("debezium.sql_server:type=connector-metrics,server="
                    + properties.getProperty("topic.prefix") + ",*");
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException("topic.prefix: " + e.getMessage(), e);
        }
    }

    /** Reports each phase once, when every database has reached it: "snapshot_done", "streaming". */
    void watch() {
        Thread thread = new Thread(this::loop, "metrics-" + pattern.getKeyProperty("server"));
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        closed = true;
    }

    /** How many records the connector has read and not yet handed over. */
    long queued() {
        long queued = 0;
        for (ObjectName bean : beans("streaming", false)) {
            Object total = attribute(bean, "QueueTotalCapacity");
            Object free = attribute(bean, "QueueRemainingCapacity");
            if (total instanceof Integer t && free instanceof Integer f) {
                queued += t - f;
            }
        }
        return queued;
    }

    private void loop() {
        while (!closed) {
            report("snapshot_done", "snapshot", "SnapshotCompleted", "SnapshotSkipped");
            report("streaming", "streaming", "Connected");
            try {
                Thread.sleep(INTERVAL_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void report(String phase, String context, String... attributes) {
        if (seen.contains(phase)) {
            return;
        }
        Set<ObjectName> beans = beans(context, !context.equals("streaming"));
        if (beans.isEmpty()) {
            return;
        }
        for (ObjectName bean : beans) {
            boolean reached = false;
            for (String attribute : attributes) {
                reached |= Boolean.TRUE.equals(attribute(bean, attribute));
            }
            if (!reached) {
                return;
            }
        }
        seen.add(phase);
        if (!closed) {
            onPhase.accept(phase);
        }
    }

    private Set<ObjectName> beans(String context, boolean ofDatabases) {
        Set<ObjectName> found = new HashSet<>();
        for (ObjectName bean : server.queryNames(pattern, null)) {
            boolean ofDatabase = bean.getKeyProperty("database") != null;
            if (context.equals(bean.getKeyProperty("context")) && ofDatabase == ofDatabases) {
                found.add(bean);
            }
        }
        return found;
    }

    private Object attribute(ObjectName bean, String name) {
        try {
            return server.getAttribute(bean, name);
        } catch (JMException e) {
            return null; // The bean goes with its task, or lacks the attribute.
        }
    }
}
