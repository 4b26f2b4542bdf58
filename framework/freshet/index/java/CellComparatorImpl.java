package org.apache.hadoop.hbase;

/**
 * The comparator of the HBase inside Hudi's bundle, under the name that every HBase server knows. An HFile's trailer holds the
 * comparator's class name, and the bundle's own begins with org.apache.hudi. Keep it off a class path with a plain HBase.
 */
public class CellComparatorImpl extends org.apache.hudi.org.apache.hadoop.hbase.CellComparatorImpl {
}
