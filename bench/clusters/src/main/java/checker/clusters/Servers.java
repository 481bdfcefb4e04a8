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
 * <p>Below the folder that is given: {@code blocks}, {@code nodes} with the containers and their
 * logs, and {@code conf}, the HADOOP_CONF_DIR of both. Says "ready" with the addresses of the files
 * and of their web service, and runs until its input ends, as it does when the process that started
 * it is gone.
 */
public final class Servers {
  private static final int DATA_NODES = 2;
  private static final int NODE_MANAGERS = 2;

  private Servers() {}

  public static void main(String[] arguments) {
    int code = 0;
    try {
      run(new File(arguments[0]));
    } catch (Exception failed) {
      failed.printStackTrace();
      code = 1;
    }
    System.exit(code); // threads of the servers would keep the process
  }

  private static void run(File folder) throws Exception {
    Configuration given = new YarnConfiguration();
    given.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(folder, "blocks").getPath());
    MiniDFSCluster files = new MiniDFSCluster.Builder(given).numDataNodes(DATA_NODES).build();
    files.waitActive();

    System.setProperty("test.build.data", folder.getPath());
    MiniYARNCluster nodes = new MiniYARNCluster("nodes", NODE_MANAGERS, 1, 1);
    nodes.init(forNodes(files.getConfiguration(0)));
    nodes.start();
    if (!nodes.waitForNodeManagersToConnect(60_000)) {
      throw new IllegalStateException("the node managers did not start");
    }
    File conf = new File(folder, "conf");
    conf.mkdirs();
    // The second is read after YARN's defaults, which would hide the first.
    write(forClients(nodes.getConfig()), new File(conf, "core-site.xml"));
    write(forClients(nodes.getConfig()), new File(conf, "yarn-site.xml"));
    System.out.println("ready " + files.getFileSystem().getUri() + " " + files.getHttpUri(0));
    while (System.in.read() >= 0) {
      continue;
    }
    nodes.stop();
    files.shutdown(true);
  }

  private static Configuration forNodes(Configuration files) {
    Configuration wanted = new YarnConfiguration(files);
    wanted.setInt(YarnConfiguration.YARN_MINICLUSTER_NM_PMEM_MB, 2048);
    wanted.setInt(YarnConfiguration.NM_VCORES, 4);
    wanted.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    // Containers that use more memory than they asked for are ended, as on any YARN. Address space
    // does not count: Java takes more of that than it uses.
    wanted.setBoolean(YarnConfiguration.YARN_MINICLUSTER_CONTROL_RESOURCE_MONITORING, true);
    wanted.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, true);
    wanted.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    wanted.setInt(YarnConfiguration.NM_CONTAINER_MON_INTERVAL_MS, 1000);
    wanted.set("yarn.scheduler.capacity.root.queues", "default");
    wanted.setInt("yarn.scheduler.capacity.root.default.capacity", 100);
    wanted.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.9");
    return wanted;
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
