package sqlservercdc.interop;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Prints events, one JSON object a line, from any thread. */
final class EventPrinter {
    private final ObjectMapper json = new ObjectMapper();
    private final PrintStream out;

    EventPrinter(PrintStream out) {
        this.out = new PrintStream(out, false, StandardCharsets.UTF_8);
    }

    /** Prints an event of a run, or of the program where run is null. */
    void print(String run, String event, Map<String, ?> facts) {
        ObjectNode line = json.createObjectNode();
        if (run != null) {
            line.put("run", run);
        }
        line.put("event", event);
        facts.forEach((name, value) -> line.set(name, json.valueToTree(value)));
        print(line);
    }

    /** An empty line to be filled and printed. */
    ObjectNode line() {
        return json.createObjectNode();
    }

    /** The bytes of a converter as they are, or JSON's null for none. */
    static RawValue raw(byte[] converted) {
        return new RawValue(converted == null ? "null" : new String(converted, StandardCharsets.UTF_8));
    }

    void print(ObjectNode line) {
        String text;
        try {
            text = json.writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("printing an event", e);
        }
        synchronized (out) {
            out.println(text);
            out.flush();
        }
    }
}
