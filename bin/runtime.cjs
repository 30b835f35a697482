// Old JavaScript on purpose: any Node must be able to parse it, and say in one sentence what is missing.
'use strict';
var fs = require('fs');
var path = require('path');

var WANTED = [24, 15];

function isNewEnough(version) {
  var parts = version.split('.').map(Number);
  return parts[0] > WANTED[0] || (parts[0] === WANTED[0] && parts[1] >= WANTED[1]);
}

/** Path of the Node runtime that `npm ci` installed for this platform, or undefined. */
function bundledNode() {
  var names = ['node-' + process.platform + '-' + process.arch, 'node-bin-' + process.platform + '-' + process.arch];
  for (var i = 0; i < names.length; i++) {
    try {
      var home = path.dirname(require.resolve(names[i] + '/package.json', { paths: [path.join(__dirname, '..')] }));
      var file = path.join(home, 'bin', 'node');
      if (fs.existsSync(file)) return file;
    } catch (_) {
      // not installed on this platform: try the next name
    }
  }
  return undefined;
}

var missing =
  'dropcast needs Node ' +
  WANTED.join('.') +
  ' or newer. This is Node ' +
  process.versions.node +
  ', and the package has no runtime for ' +
  process.platform +
  '-' +
  process.arch +
  '. Install Node 26 and try again.';

module.exports = { isNewEnough: isNewEnough, bundledNode: bundledNode, missing: missing };

if (require.main === module && !isNewEnough(process.versions.node)) {
  console.error(missing);
  process.exitCode = 1;
}
