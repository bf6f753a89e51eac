import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import com.microsoft.sqlserver.jdbc.SQLServerDataTable;
import com.microsoft.sqlserver.jdbc.SQLServerException;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One connection and what the steps do with it. */
final class Session {
  private static final Pattern MARKER = Pattern.compile("@(\\w+)");

  private final SQLServerDataSource source;
  private final Connection connection;
  private final Map<String, Savepoint> savepoints = new HashMap<>();

  Session(SQLServerDataSource source, Connection connection) {
    this.source = source;
    this.connection = connection;
  }

  Adapter.Answer run(Adapter.Step step) throws Exception {
    Adapter.Answer answer = new Adapter.Answer();
    answer.runs =
        switch (step.op) {
          case "batch" -> List.of(batch(step.sql));
          case "params" -> params(step);
          case "begin", "commit", "save", "rollback" -> transaction(step);
          case "cancel" -> List.of(cancel(step.sql));
          case "timeout" -> List.of(timeout(step.sql));
          case "kill" -> kill(step);
          case "connects" -> connects(step.times);
          case "bulk" -> List.of(bulk(step));
          case "tvp" -> List.of(tvp(step));
          case "call" -> List.of(call(step));
          case "metadata" -> List.of(metadata(step));
          default -> throw new IllegalArgumentException(step.op);
        };
    return answer;
  }

  private Adapter.Run batch(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      Adapter.Run run = new Adapter.Run();
      try {
        readAll(run, statement, statement.execute(sql));
      } catch (SQLServerException e) {
        failed(run, e);
      }
      warnings(run, statement.getWarnings());
      return run;
    }
  }

  /** Reads result sets until there is no more. */
  private static void readAll(Adapter.Run run, Statement statement, boolean isSet)
      throws SQLException {
    boolean more = isSet;
    while (more || statement.getUpdateCount() != -1) {
      if (more) {
        try (ResultSet rows = statement.getResultSet()) {
          run.sets.add(readSet(rows));
        }
      }
      more = statement.getMoreResults();
    }
  }

  private static Map<String, Object> readSet(ResultSet rows) throws SQLException {
    ResultSetMetaData meta = rows.getMetaData();
    List<String> columns = new ArrayList<>();
    List<List<Object>> values = new ArrayList<>();
    for (int i = 1; i <= meta.getColumnCount(); i++) {
      columns.add(meta.getColumnName(i));
    }
    Map<String, Object> set = new LinkedHashMap<>();
    set.put("columns", columns);
    set.put("rows", values);
    while (rows.next()) {
      List<Object> row = new ArrayList<>();
      for (int i = 1; i <= columns.size(); i++) {
        row.add(Values.cell(rows, meta, i));
      }
      values.add(row);
    }
    return set;
  }

  private static void failed(Adapter.Run run, SQLServerException e) throws SQLServerException {
    if (e.getSQLServerError() == null) {
      throw e;
    }
    run.error = new LinkedHashMap<>();
    run.error.put("number", e.getSQLServerError().getErrorNumber());
    run.error.put("level", e.getSQLServerError().getErrorSeverity());
    run.error.put("state", e.getSQLServerError().getErrorState());
    run.error.put("message", e.getSQLServerError().getErrorMessage());
  }

  private static void warnings(Adapter.Run run, SQLWarning first) {
    for (SQLWarning w = first; w != null; w = w.getNextWarning()) {
      if (!List.of(5701, 5703, 3621).contains(w.getErrorCode())) {
        run.messages.add(w.getMessage());
      }
    }
  }

  private List<Adapter.Run> params(Adapter.Step step) throws SQLException {
    List<Adapter.Param> markers = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(withMarkers(step, markers))) {
      List<Adapter.Run> runs = new ArrayList<>();
      for (List<String> row : step.rows) {
        for (int i = 0; i < markers.size(); i++) {
          Adapter.Param p = markers.get(i);
          Values.set(statement, i + 1, p.type, row.get(step.params.indexOf(p)));
        }
        runs.add(runPrepared(statement));
      }
      return runs;
    }
  }

  private static Adapter.Run runPrepared(PreparedStatement statement) throws SQLException {
    Adapter.Run run = new Adapter.Run();
    try {
      if (statement.execute()) {
        readAll(run, statement, true);
      } else {
        run.affected = statement.getLargeUpdateCount();
      }
    } catch (SQLServerException e) {
      failed(run, e);
    }
    return run;
  }

  /** The statement with question marks, and which parameter each one is. */
  private static String withMarkers(Adapter.Step step, List<Adapter.Param> markers) {
    Matcher names = MARKER.matcher(step.sql);
    StringBuilder sql = new StringBuilder();
    while (names.find()) {
      for (Adapter.Param p : step.params) {
        if (p.name.equals(names.group(1))) {
          markers.add(p);
          names.appendReplacement(sql, "?");
        }
      }
    }
    return names.appendTail(sql).toString();
  }

  private List<Adapter.Run> transaction(Adapter.Step step) throws SQLException {
    switch (step.op) {
      case "begin" -> connection.setAutoCommit(false);
      case "save" -> savepoints.put(step.name, connection.setSavepoint(step.name));
      case "commit" -> {
        connection.commit();
        connection.setAutoCommit(true);
      }
      default -> {
        if (step.name != null && !step.name.isEmpty()) {
          connection.rollback(savepoints.get(step.name));
        } else {
          connection.rollback();
          connection.setAutoCommit(true);
        }
      }
    }
    return List.of();
  }

  /** Cancels again and again, since a cancel that comes too early does nothing. */
  private Adapter.Run cancel(String sql) throws SQLException {
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try (Statement statement = connection.createStatement()) {
      timer.scheduleWithFixedDelay(
          () -> {
            try {
              statement.cancel();
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
          },
          200, 200, TimeUnit.MILLISECONDS);
      return interrupted(statement, sql, "canceled");
    } finally {
      timer.shutdownNow();
    }
  }

  private Adapter.Run timeout(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setQueryTimeout(1);
      return interrupted(statement, sql, "timed out");
    }
  }

  private static Adapter.Run interrupted(Statement statement, String sql, String how)
      throws SQLException {
    Adapter.Run run = new Adapter.Run();
    try {
      statement.execute(sql);
    } catch (SQLException e) {
      if (!e.getMessage().contains(how)) {
        throw e;
      }
      run.cancelled = true;
    }
    return run;
  }

  private List<Adapter.Run> kill(Adapter.Step step) throws Exception {
    Connection victim = source.getConnection();
    try (Statement statement = victim.createStatement()) {
      statement.execute(step.sql);
      CompletableFuture<Void> running =
          CompletableFuture.runAsync(
              () -> {
                try {
                  statement.execute(step.then);
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      Sockets.cutLast();
      try {
        running.get();
      } catch (ExecutionException e) {
        return List.of();
      }
    }
    throw new IllegalStateException("the statement of a cut connection succeeded");
  }

  private List<Adapter.Run> connects(int times) throws SQLException {
    for (int i = 0; i < times; i++) {
      source.getConnection().close();
    }
    return List.of();
  }

  private SQLServerDataTable table(Adapter.Step step) throws SQLException {
    SQLServerDataTable table = new SQLServerDataTable();
    for (Adapter.Param p : step.params) {
      table.addColumnMetadata(p.name, Values.jdbcType(p.type));
    }
    for (List<String> row : step.rows) {
      Object[] values = new Object[row.size()];
      Arrays.setAll(values, i -> Values.value(step.params.get(i).type, row.get(i)));
      table.addRow(values);
    }
    return table;
  }

  private Adapter.Run bulk(Adapter.Step step) throws SQLException {
    Adapter.Run run = new Adapter.Run();
    try (SQLServerBulkCopy copy = new SQLServerBulkCopy(connection)) {
      copy.setDestinationTableName(step.name);
      for (Adapter.Param p : step.params) {
        copy.addColumnMapping(p.name, p.name);
      }
      copy.writeToServer(new BulkRows(step));
      run.affected = (long) step.rows.size();
    } catch (SQLServerException e) {
      failed(run, e);
    }
    return run;
  }

  private Adapter.Run tvp(Adapter.Step step) throws SQLException {
    try (SQLServerPreparedStatement statement =
        (SQLServerPreparedStatement) connection.prepareStatement(step.sql.replace("@rows", "?"))) {
      statement.setStructured(1, step.type, table(step));
      return runPrepared(statement);
    }
  }

  private Adapter.Run call(Adapter.Step step) throws SQLException {
    String markers = String.join(",", Collections.nCopies(step.params.size(), "?"));
    try (CallableStatement statement =
        connection.prepareCall("{? = call " + step.name + "(" + markers + ")}")) {
      Adapter.Run run = new Adapter.Run();
      statement.registerOutParameter(1, java.sql.Types.INTEGER);
      for (int i = 0; i < step.params.size(); i++) {
        Adapter.Param p = step.params.get(i);
        Values.set(statement, i + 2, p.type, step.rows.get(0).get(i));
        if (p.output) {
          statement.registerOutParameter(i + 2, Values.jdbcType(p.type));
        }
      }
      readAll(run, statement, statement.execute());
      run.status = statement.getInt(1);
      for (int i = 0; i < step.params.size(); i++) {
        if (step.params.get(i).output) {
          run.outputs.put(step.params.get(i).name, statement.getString(i + 2));
        }
      }
      return run;
    }
  }

  private Adapter.Run metadata(Adapter.Step step) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    List<String> a = step.args;
    Adapter.Run run = new Adapter.Run();
    if (step.name.equals("batch")) {
      run.affected = batchUpdate(a);
      return run;
    }
    try (ResultSet rows =
        switch (step.name) {
          case "getTables" -> meta.getTables(a.get(0), a.get(1), a.get(2), new String[] {a.get(3)});
          case "getColumns" -> meta.getColumns(a.get(0), a.get(1), a.get(2), a.get(3));
          case "getPrimaryKeys" -> meta.getPrimaryKeys(a.get(0), a.get(1), a.get(2));
          case "getIndexInfo" -> meta.getIndexInfo(a.get(0), a.get(1), a.get(2), false, true);
          case "getSchemas" -> meta.getSchemas();
          case "getCatalogs" -> meta.getCatalogs();
          case "getTypeInfo" -> meta.getTypeInfo();
          default -> throw new IllegalArgumentException(step.name);
        }) {
      run.sets.add(readSet(rows));
    }
    return run;
  }

  /** A batch of a statement with two parameters. */
  private long batchUpdate(List<String> args) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(args.get(0))) {
      for (int i = 1; i < args.size(); i += 2) {
        statement.setInt(1, Integer.parseInt(args.get(i)));
        statement.setNString(2, args.get(i + 1));
        statement.addBatch();
      }
      return Arrays.stream(statement.executeBatch()).sum();
    }
  }
}
