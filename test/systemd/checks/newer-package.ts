/** A script that makes the same package with another version. */
export function newerPackage(file: string, version: string, path: string): string {
  return `set -e
rm -rf /root/newer
dpkg-deb -R ${file} /root/newer
sed -i 's/^Version: .*/Version: ${version}/' /root/newer/DEBIAN/control
dpkg-deb --root-owner-group -Znone -b /root/newer ${path} > /dev/null
rm -r /root/newer`;
}
