import com.microsoft.sqlserver.jdbc.ISQLServerBulkData;
import java.util.LinkedHashSet;
import java.util.Set;

/** The rows of a step, for the driver's bulk copy. */
final class BulkRows implements ISQLServerBulkData {
  private static final long serialVersionUID = 1L;

  private final transient Adapter.Step step;
  private int row = -1;

  BulkRows(Adapter.Step step) {
    this.step = step;
  }

  @Override
  public Set<Integer> getColumnOrdinals() {
    Set<Integer> ordinals = new LinkedHashSet<>();
    for (int i = 1; i <= step.params.size(); i++) {
      ordinals.add(i);
    }
    return ordinals;
  }

  @Override
  public String getColumnName(int column) {
    return step.params.get(column - 1).name;
  }

  @Override
  public int getColumnType(int column) {
    return Values.jdbcType(step.params.get(column - 1).type);
  }

  @Override
  public int getPrecision(int column) {
    return Values.precision(step.params.get(column - 1).type);
  }

  @Override
  public int getScale(int column) {
    return Values.scale(step.params.get(column - 1).type);
  }

  @Override
  public Object[] getRowData() {
    Object[] values = new Object[step.params.size()];
    for (int i = 0; i < values.length; i++) {
      Object value = Values.value(step.params.get(i).type, step.rows.get(row).get(i));
      values[i] = value instanceof java.time.temporal.Temporal t ? java.sql.Timestamp.valueOf((java.time.LocalDateTime) t) : value;
    }
    return values;
  }

  @Override
  public boolean next() {
    return ++row < step.rows.size();
  }
}
