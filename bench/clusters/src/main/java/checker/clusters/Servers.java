package checker.clusters;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * An HDFS and a YARN of Hadoop's own, in this process, on loopback.
 *
 * <p>Below the folder that is given: {@code data} with the blocks, {@code nodes} with the containers
 * and their logs, and {@code conf}, the HADOOP_CONF_DIR of both. Says "ready" and runs until its
 * input ends, as it does when the process that started it is gone.
 */
public final class Servers {
  private static final int DATA_NODES = 2;
  private static final int NODE_MANAGERS = 2;
  private static final int MEBIBYTES_OF_A_NODE = 2048;

  private Servers() {}

  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    File conf = new File(folder, "conf");
    conf.mkdirs();
    Configuration given = new YarnConfiguration();
    given.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(folder, "data").getPath());
    MiniDFSCluster files = new MiniDFSCluster.Builder(given).numDataNodes(DATA_NODES).build();
    files.waitActive();

    System.setProperty("test.build.data", new File(folder, "nodes").getPath());
    Configuration wanted = new YarnConfiguration(files.getConfiguration(0));
    wanted.setInt(YarnConfiguration.NM_PMEM_MB, MEBIBYTES_OF_A_NODE);
    wanted.setInt(YarnConfiguration.NM_VCORES, 4);
    wanted.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    // As most who run YARN have it: memory that is used counts, address space does not.
    wanted.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, true);
    wanted.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    wanted.setBoolean(YarnConfiguration.YARN_MINICLUSTER_CONTROL_RESOURCE_MONITORING, true);
    wanted.setInt(YarnConfiguration.NM_CONTAINER_MON_INTERVAL_MS, 1000);
    wanted.set("yarn.scheduler.capacity.root.queues", "default");
    wanted.setInt("yarn.scheduler.capacity.root.default.capacity", 100);
    wanted.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.9");
    // Containers' logs stay where a person can read them.
    wanted.setInt(YarnConfiguration.DEBUG_NM_DELETE_DELAY_SEC, 3600);
    MiniYARNCluster nodes = new MiniYARNCluster("nodes", NODE_MANAGERS, 1, 1);
    nodes.init(wanted);
    nodes.start();
    if (!nodes.waitForNodeManagersToConnect(60_000)) {
      throw new IllegalStateException("the node managers did not start");
    }
    // The second is read after the defaults of YARN, which would hide the first.
    write(forClients(nodes.getConfig()), new File(conf, "core-site.xml"));
    write(forClients(nodes.getConfig()), new File(conf, "yarn-site.xml"));
    System.out.println("ready " + files.getFileSystem().getUri());
    while (System.in.read() >= 0) {
      continue;
    }
    nodes.stop();
    files.shutdown(true);
    System.exit(0);
  }

  /** Where everything is; the rest names classes of these servers, which no client has. */
  private static Configuration forClients(Configuration all) {
    Configuration some = new Configuration(false);
    for (Map.Entry<String, String> entry : all) {
      String key = entry.getKey();
      if (key.equals("fs.defaultFS") || key.matches("yarn\\.resourcemanager\\..*address.*")) {
        some.set(key, entry.getValue());
      }
    }
    return some;
  }

  private static void write(Configuration configuration, File file) throws IOException {
    try (OutputStream out = new FileOutputStream(file)) {
      configuration.writeXml(out);
    }
  }
}
