package checker.conformance;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.Random;

/** Random numbers that are the same after each reset: what Kafka makes member ids of. */
public final class Numbers extends SecureRandomSpi {
  private static final long serialVersionUID = 1L;
  private static Random source = new Random(0);

  /** Make these the platform's random numbers; before the first id is made. */
  public static void install() {
    Provider provider = new Numbered();
    Security.insertProviderAt(provider, 1);
  }

  /** Begin again. */
  public static void reset() {
    source = new Random(0);
  }

  @Override
  protected void engineSetSeed(byte[] seed) {}

  @Override
  protected void engineNextBytes(byte[] bytes) {
    source.nextBytes(bytes);
  }

  @Override
  protected byte[] engineGenerateSeed(int length) {
    byte[] seed = new byte[length];
    source.nextBytes(seed);
    return seed;
  }

  private static final class Numbered extends Provider {
    private static final long serialVersionUID = 1L;

    Numbered() {
      super("Numbered", "1", "numbers that are the same each time");
      put("SecureRandom.Numbers", Numbers.class.getName());
    }
  }
}
