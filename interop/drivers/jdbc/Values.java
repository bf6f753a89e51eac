import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import microsoft.sql.DateTimeOffset;

/** Values between the driver's classes and canonical text. */
final class Values {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  /** A column's value as a cell of an answer. */
  static Object cell(ResultSet rows, ResultSetMetaData meta, int column) throws SQLException {
    String type = meta.getColumnTypeName(column).toLowerCase(Locale.ROOT);
    int scale = meta.getScale(column);
    Object value =
        switch (type) {
          case "datetime", "smalldatetime", "datetime2" -> rows.getObject(column, LocalDateTime.class);
          case "date" -> rows.getObject(column, LocalDate.class);
          case "time" -> rows.getObject(column, LocalTime.class);
          case "hierarchyid", "udt", "timestamp", "binary", "varbinary", "image" ->
              rows.getBytes(column);
          case "xml" -> rows.getString(column);
          default -> rows.getObject(column);
        };
    return value == null ? null : text(value, type, scale);
  }

  private static Object text(Object value, String type, int scale) {
    if (value instanceof Boolean b) {
      return b ? "1" : "0";
    }
    if (value instanceof Double d) {
      return Map.of("f64", Double.toString(d));
    }
    if (value instanceof Float f) {
      return Map.of("f32", Float.toString(f));
    }
    if (value instanceof BigDecimal d) {
      return d.toPlainString();
    }
    if (value instanceof byte[] b) {
      return "0x" + HEX.formatHex(b);
    }
    if (value instanceof LocalDateTime t) {
      return t.format(format("uuuu-MM-dd HH:mm:ss", type.equals("smalldatetime") ? 0 : scale));
    }
    if (value instanceof LocalTime t) {
      return t.format(format("HH:mm:ss", scale));
    }
    if (value instanceof DateTimeOffset t) {
      OffsetDateTime moment = t.getOffsetDateTime();
      return moment.format(format("uuuu-MM-dd HH:mm:ss", scale))
          + moment.format(DateTimeFormatter.ofPattern(" xxx"));
    }
    return value.toString();
  }

  private static DateTimeFormatter format(String pattern, int scale) {
    return DateTimeFormatter.ofPattern(scale == 0 ? pattern : pattern + "." + "S".repeat(scale));
  }

  /** Sets a parameter from canonical text. */
  static void set(PreparedStatement statement, int index, String type, String value)
      throws SQLException {
    statement.setObject(index, value(type, value), jdbcType(type));
  }

  /** Canonical text as an object of the driver's. */
  static Object value(String type, String value) {
    if (value == null) {
      return null;
    }
    return switch (name(type)) {
      case "bit" -> value.equals("1");
      case "tinyint", "smallint" -> Short.valueOf(value);
      case "int" -> Integer.valueOf(value);
      case "bigint" -> Long.valueOf(value);
      case "decimal", "numeric", "money", "smallmoney" -> new BigDecimal(value);
      case "float" -> Double.valueOf(value);
      case "real" -> Float.valueOf(value);
      case "binary", "varbinary", "image" -> HEX.parseHex(value.substring(2));
      case "date" -> LocalDate.parse(value);
      case "time" -> LocalTime.parse(value);
      case "smalldatetime", "datetime", "datetime2" ->
          LocalDateTime.parse(value.replace(' ', 'T'));
      case "datetimeoffset" ->
          OffsetDateTime.parse(value.replaceFirst(" ", "T").replace(" ", ""));
      default -> value;
    };
  }

  static int jdbcType(String type) {
    return switch (name(type)) {
      case "bit" -> Types.BIT;
      case "tinyint" -> Types.TINYINT;
      case "smallint" -> Types.SMALLINT;
      case "int" -> Types.INTEGER;
      case "bigint" -> Types.BIGINT;
      case "decimal" -> Types.DECIMAL;
      case "numeric" -> Types.NUMERIC;
      case "money" -> microsoft.sql.Types.MONEY;
      case "smallmoney" -> microsoft.sql.Types.SMALLMONEY;
      case "float" -> Types.DOUBLE;
      case "real" -> Types.REAL;
      case "binary" -> Types.BINARY;
      case "varbinary" -> type.endsWith("(max)") ? Types.LONGVARBINARY : Types.VARBINARY;
      case "image" -> Types.LONGVARBINARY;
      case "date" -> Types.DATE;
      case "time" -> Types.TIME;
      case "smalldatetime" -> microsoft.sql.Types.SMALLDATETIME;
      case "datetime" -> microsoft.sql.Types.DATETIME;
      case "datetime2" -> Types.TIMESTAMP;
      case "datetimeoffset" -> Types.TIMESTAMP_WITH_TIMEZONE;
      case "char" -> Types.CHAR;
      case "varchar" -> type.endsWith("(max)") ? Types.LONGVARCHAR : Types.VARCHAR;
      case "text" -> Types.LONGVARCHAR;
      case "nchar" -> Types.NCHAR;
      case "nvarchar" -> type.endsWith("(max)") ? Types.LONGNVARCHAR : Types.NVARCHAR;
      case "ntext" -> Types.LONGNVARCHAR;
      case "uniqueidentifier" -> microsoft.sql.Types.GUID;
      case "xml" -> Types.NVARCHAR;
      default -> throw new IllegalArgumentException(type);
    };
  }

  /** The scale of a type such as decimal(9,2) or time(3), else 0. */
  static int scale(String type) {
    int from = Math.max(type.indexOf('('), type.indexOf(','));
    String digits = from < 0 ? "" : type.substring(from + 1, type.length() - 1);
    return digits.matches("\\d+") ? Integer.parseInt(digits) : 0;
  }

  static int precision(String type) {
    int from = type.indexOf('(');
    String digits = from < 0 ? "" : type.substring(from + 1).replaceFirst("[,)].*", "");
    return digits.matches("\\d+") ? Integer.parseInt(digits) : 0;
  }

  private static String name(String type) {
    int from = type.indexOf('(');
    return from < 0 ? type : type.substring(0, from);
  }

  private Values() {}
}
