import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the steps that come on standard input through Microsoft's JDBC driver and answers each
 * with a line on standard output.
 */
public final class Adapter {
  /** A step, as step_test.go writes it. */
  static final class Step {
    String op;
    String sql;
    String then;
    String name;
    String type;
    int times;
    List<String> args = List.of();
    List<Param> params = List.of();
    List<List<String>> rows = List.of();
  }

  static final class Param {
    String name;
    String type;
    boolean output;
  }

  static final class Answer {
    List<Run> runs = List.of();
    String refused;
  }

  static final class Run {
    List<Object> sets = new java.util.ArrayList<>();
    List<String> messages = new java.util.ArrayList<>();
    Map<String, Object> error;
    Long affected;
    Integer status;
    Map<String, Object> outputs = new LinkedHashMap<>();
    boolean cancelled;
  }

  public static void main(String[] args) throws Exception {
    Gson gson = new GsonBuilder().disableHtmlEscaping().create();
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    SQLServerDataSource source = dataSource();
    try (Connection connection = source.getConnection()) {
      Session session = new Session(source, connection);
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        Answer answer;
        try {
          answer = session.run(gson.fromJson(line, Step.class));
        } catch (Exception e) {
          e.printStackTrace();
          answer = new Answer();
          answer.refused = e.toString();
        }
        out.println(gson.toJson(answer));
        out.flush();
      }
    }
  }

  private static SQLServerDataSource dataSource() {
    SQLServerDataSource source = new SQLServerDataSource();
    source.setServerName(System.getenv("INTEROP_HOST"));
    source.setPortNumber(Integer.parseInt(System.getenv("INTEROP_PORT")));
    source.setUser(System.getenv("INTEROP_USER"));
    source.setPassword(System.getenv("INTEROP_PASSWORD"));
    source.setSendTimeAsDatetime(false); // which would cost digits
    switch (System.getenv("INTEROP_MODE")) {
      case "plain", "login only" -> {
        source.setEncrypt("false");
        source.setTrustServerCertificate(true);
      }
      case "encrypted" -> {
        source.setEncrypt("true");
        source.setTrustStore(System.getenv("INTEROP_CA"));
        source.setTrustStoreType("PEM");
      }
      case "strict" -> {
        source.setEncrypt("strict");
        source.setServerCertificate(System.getenv("INTEROP_CA"));
      }
      default -> throw new IllegalArgumentException(System.getenv("INTEROP_MODE"));
    }
    return source;
  }

  private Adapter() {}
}
