package sqlservercdc.interop;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.source.SourceRecord;

/** One engine from its start to its end. */
final class EngineRun {
    /** How long the end of the program waits for an engine. */
    private static final long END_SECONDS = 10;

    private static final long CLOSE_AGAIN_MILLIS = 20;

    private final String name;
    private final EventPrinter printer;
    private final Converters converters;
    private final ConnectorMetrics metrics;
    private final DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile long records;

    EngineRun(String name, Properties properties, EventPrinter printer) {
        this.name = name;
        this.printer = printer;
        this.converters = new Converters(properties);
        this.metrics = new ConnectorMetrics(properties, phase -> printer.print(name, phase, Map.of()));
        this.engine = DebeziumEngine.create(Connect.class)
                .using(properties)
                .using(lifecycle())
                .using(this::completed)
                .notifying(this::receive)
                .build();
    }

    void start() {
        Thread thread = new Thread(engine, "engine-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Stops the engine in the background; its end is the event "stopped". */
    void stop() {
        Thread thread = new Thread(this::closeUntilEnded, "stop-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /** An engine that is still starting refuses to be closed: ask it again until it has ended. */
    private void closeUntilEnded() {
        try {
            do {
                try {
                    engine.close();
                } catch (IllegalStateException e) {
                    // Starting yet, or ended by itself.
                }
            } while (!ended.await(CLOSE_AGAIN_MILLIS, TimeUnit.MILLISECONDS));
        } catch (IOException e) {
            printer.print(name, "error", Map.of("message", trace(e)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean hasEnded() {
        return ended.getCount() == 0;
    }

    void awaitEnd() {
        try {
            ended.await(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What is known of the run: whether it has ended, records so far, records still queued inside. */
    Map<String, Object> status() {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("ended", hasEnded());
        status.put("records", records);
        status.put("queued", metrics.queued());
        return status;
    }

    private DebeziumEngine.ConnectorCallback lifecycle() {
        return new DebeziumEngine.ConnectorCallback() {
            @Override
            public void pollingStarted() {
                printer.print(name, "started", Map.of());
                metrics.watch();
            }
        };
    }

    private void completed(boolean success, String message, Throwable error) {
        metrics.close();
        ended.countDown(); // Who reads of the error may start the run again.
        if (!success) {
            String text = error == null ? message : trace(error);
            printer.print(name, "error", Map.of("message", text == null ? "no reason given" : text));
        }
        printer.print(name, "stopped", Map.of());
    }

    private void receive(
            List<ChangeEvent<SourceRecord, SourceRecord>> batch,
            DebeziumEngine.RecordCommitter<ChangeEvent<SourceRecord, SourceRecord>> committer)
            throws InterruptedException {
        for (ChangeEvent<SourceRecord, SourceRecord> event : batch) {
            printer.print(line(event.value()));
            records++;
            committer.markProcessed(event);
        }
        committer.markBatchFinished();
    }

    private ObjectNode line(SourceRecord record) {
        ObjectNode line = printer.line();
        line.put("run", name).put("event", "record").put("topic", record.topic());
        line.put("partition", record.kafkaPartition());
        line.putRawValue("key", EventPrinter.raw(converters.key(record)));
        line.putRawValue("value", EventPrinter.raw(converters.value(record)));
        ArrayNode headers = line.putArray("headers");
        for (Header header : record.headers()) {
            headers.addObject()
                    .put("key", header.key())
                    .putRawValue("value", EventPrinter.raw(converters.header(record.topic(), header)));
        }
        line.putPOJO("source_partition", record.sourcePartition());
        line.putPOJO("source_offset", record.sourceOffset());
        return line;
    }

    private static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
