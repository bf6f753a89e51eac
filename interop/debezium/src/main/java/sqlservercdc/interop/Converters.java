package sqlservercdc.interop;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.json.JsonConverterConfig;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.ConverterConfig;
import org.apache.kafka.connect.storage.ConverterType;

/**
 * Kafka's JsonConverter for keys, values and headers, configured as a Kafka Connect worker does it:
 * by the properties behind {@code key.converter.}, {@code value.converter.} and {@code header.converter.}.
 */
final class Converters {
    private final JsonConverter key;
    private final JsonConverter value;
    private final JsonConverter header;

    Converters(Properties properties) {
        key = converter(properties, "key.converter.", ConverterType.KEY);
        value = converter(properties, "value.converter.", ConverterType.VALUE);
        header = converter(properties, "header.converter.", ConverterType.HEADER);
    }

    byte[] key(SourceRecord record) {
        return key.fromConnectData(record.topic(), record.keySchema(), record.key());
    }

    byte[] value(SourceRecord record) {
        return value.fromConnectData(record.topic(), record.valueSchema(), record.value());
    }

    byte[] header(String topic, Header h) {
        return header.fromConnectHeader(topic, h.key(), h.schema(), h.value());
    }

    private static JsonConverter converter(Properties properties, String prefix, ConverterType type) {
        Map<String, Object> config = new HashMap<>();
        config.put(ConverterConfig.TYPE_CONFIG, type.getName());
        // A worker caches as many; the default of 1000 is the same, said here for the reader of heap dumps.
        config.put(JsonConverterConfig.SCHEMAS_CACHE_SIZE_CONFIG, JsonConverterConfig.SCHEMAS_CACHE_SIZE_DEFAULT);
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(prefix)) {
                config.put(name.substring(prefix.length()), properties.getProperty(name));
            }
        }
        JsonConverter converter = new JsonConverter();
        converter.configure(config);
        return converter;
    }
}
