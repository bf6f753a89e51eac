import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
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

  private static SQLServerDataSource dataSource() throws GeneralSecurityException, IOException {
    SQLServerDataSource source = new SQLServerDataSource();
    source.setServerName(System.getenv("INTEROP_HOST"));
    source.setPortNumber(Integer.parseInt(System.getenv("INTEROP_PORT")));
    source.setUser(System.getenv("INTEROP_USER"));
    source.setPassword(System.getenv("INTEROP_PASSWORD"));
    source.setSocketFactoryClass(Sockets.class.getName());
    source.setSendTimeAsDatetime(false); // which would cost digits
    switch (System.getenv("INTEROP_MODE")) {
      case "plain", "login only" -> {
        source.setEncrypt("false");
        source.setTrustServerCertificate(true);
      }
      case "encrypted" -> {
        source.setEncrypt("true");
        trust(source);
      }
      case "strict" -> {
        source.setEncrypt("strict");
        trust(source);
      }
      default -> throw new IllegalArgumentException(System.getenv("INTEROP_MODE"));
    }
    return source;
  }

  /** Makes the driver trust the simulator's authority, in the form that it reads. */
  private static void trust(SQLServerDataSource source)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (InputStream pem = Files.newInputStream(Path.of(System.getenv("INTEROP_CA")))) {
      store.setCertificateEntry(
          "authority", CertificateFactory.getInstance("X.509").generateCertificate(pem));
    }
    String password = "authority";
    Path file = Files.createTempFile("authority", ".p12");
    file.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, password.toCharArray());
    }
    source.setTrustStore(file.toString());
    source.setTrustStoreType("PKCS12");
    source.setTrustStorePassword(password);
  }

  private Adapter() {}
}
