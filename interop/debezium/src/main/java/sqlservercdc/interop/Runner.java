package sqlservercdc.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/**
 * Runs Debezium engines in one JVM, told by JSON lines on standard input, and prints what they emit
 * as JSON lines on standard output; logs go to standard error.
 *
 * <p>Commands: {@code {"command":"start","run":"r1","properties":{..}}}, {@code stop}, which ends
 * the engine as Kafka Connect ends a task, and {@code status}, both of a run. The end of the input
 * stops all engines and ends the program.
 */
public final class Runner {
    private final ObjectMapper json = new ObjectMapper();
    private final EventPrinter printer = new EventPrinter(System.out);
    private final Map<String, EngineRun> runs = new LinkedHashMap<>();

    public static void main(String[] args) throws IOException {
        new Runner().serve();
        // Threads of an engine that does not end must not keep the program.
        System.exit(0);
    }

    private void serve() throws IOException {
        printer.print(null, "ready", Map.of("java", System.getProperty("java.version")));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode command = json.readTree(line);
            String run = command.path("run").asText();
            try {
                execute(command, run);
            } catch (IllegalArgumentException e) {
                printer.print(run, "error", Map.of("message", e.getMessage()));
            }
        }
        runs.values().forEach(EngineRun::stop);
        for (EngineRun run : runs.values()) {
            run.awaitEnd();
        }
    }

    private void execute(JsonNode command, String run) {
        switch (command.path("command").asText()) {
            case "start" -> {
                EngineRun earlier = runs.get(run);
                if (earlier != null && !earlier.hasEnded()) {
                    throw new IllegalArgumentException("run " + run + " goes on");
                }
                EngineRun started = new EngineRun(run, properties(command.path("properties")), printer);
                runs.put(run, started);
                started.start();
            }
            case "stop" -> known(run).stop();
            case "status" -> printer.print(run, "status", known(run).status());
            default -> throw new IllegalArgumentException("unknown command: " + command);
        }
    }

    private EngineRun known(String run) {
        EngineRun found = runs.get(run);
        if (found == null) {
            throw new IllegalArgumentException("no run " + run);
        }
        return found;
    }

    private static Properties properties(JsonNode object) {
        Properties properties = new Properties();
        object.fields().forEachRemaining(p -> properties.setProperty(p.getKey(), p.getValue().asText()));
        return properties;
    }
}
