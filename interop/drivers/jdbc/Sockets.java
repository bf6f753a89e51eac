import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/** Makes the driver's sockets and remembers the last one, so that it can be cut. */
public final class Sockets extends SocketFactory {
  private static volatile Socket last;

  private final SocketFactory plain = SocketFactory.getDefault();

  /** Closes the last socket under the driver. */
  static void cutLast() throws IOException {
    last.close();
  }

  @Override
  public Socket createSocket() throws IOException {
    last = plain.createSocket();
    return last;
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    last = plain.createSocket(host, port);
    return last;
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress local, int localPort)
      throws IOException {
    last = plain.createSocket(host, port, local, localPort);
    return last;
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    last = plain.createSocket(host, port);
    return last;
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort)
      throws IOException {
    last = plain.createSocket(host, port, local, localPort);
    return last;
  }
}
