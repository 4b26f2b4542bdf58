package freshet.index;

import java.lang.reflect.Method;
import java.util.Map;
import org.apache.hudi.org.apache.hadoop.hbase.client.Connection;
import org.codehaus.janino.SimpleCompiler;

/**
 * HBase's client says by JSON which request failed, and Hudi's bundle lacks the library for it: the thread that says so dies,
 * and the request is waited for for ever. Here the client is given a class of that name that needs no library.
 */
public class Texts {
  private static final String PACKAGE = "org.apache.hudi.org.apache.hadoop.hbase.util";
  private static final String SOURCE = "package " + PACKAGE + "; public class JsonMapper {"
      + " public static String writeMapAsString(java.util.Map map) { return String.valueOf(map); }"
      + " public static String writeObjectAsString(Object object) { return String.valueOf(object); } }";
  private static boolean done = false;

  public static synchronized void mend() {
    if (done) {
      return;
    }
    done = true;
    try {
      SimpleCompiler compiler = new SimpleCompiler();
      compiler.cook(SOURCE);
      byte[] code = (byte[]) compiler.getBytecodes().get(PACKAGE + ".JsonMapper");
      Method define = ClassLoader.class.getDeclaredMethod("defineClass",
          new Class[] {String.class, byte[].class, Integer.TYPE, Integer.TYPE});
      define.setAccessible(true);
      define.invoke(Connection.class.getClassLoader(),
          new Object[] {PACKAGE + ".JsonMapper", code, Integer.valueOf(0), Integer.valueOf(code.length)});
    } catch (Throwable loadedAlready) {
      // Then the client is as it was.
    }
  }
}
