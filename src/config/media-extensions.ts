/**
 * Lower-case extensions of files that video services accept, included in every folder by default. Sources: the formats
 * that YouTube lists (MOV, MPEG-1/2/4, MP4, MPG, AVI, WMV, MPEGPS, FLV, 3GPP, WebM), the filter in Kaltura's KSU (flv
 * asf qt mov mpg mpeg avi wmv mp4 m4v 3gp), the containers of AWS Elemental Live and MediaConvert (f4v flv avi divx
 * xvid mkv m2ts m2t mts ts trp mpeg mp4 m4v mxf mov wav m2v m1v vob 3g2 dv gxf), and for audio those of Alibaba MPS
 * (aac flac m4a mp3 ogg opus wma mp2). AVCHD cameras write `.mts`.
 */
export const includedExtensions: readonly string[] = (
  'mp4 mov m4v mkv webm avi mpg mpeg ts m2ts mxf mp3 m4a wav flac ' +
  'mts m2t trp m2v m1v mpe vob 3gp 3gpp 3g2 wmv asf flv f4v ogv qt dv gxf divx xvid aac aif aiff opus ogg oga wma mp2 m4b'
).split(' ');

/**
 * Video and audio extensions that few services accept. A folder with its own `include` may also omit extensions from
 * the default list.
 */
const rarelyTaken = 'mk3d mka insv lrv mod tod r3d braw ari crm rm rmvb caf w64 bwf'.split(' ');

const extensions = new Set([...includedExtensions, ...rarelyTaken]);

/** @returns the path's extension with its dot, such as `.mts`, if it is a video or audio extension, else null */
export function mediaExtensionOf(path: string): string | null {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return path.length > extension.length && extensions.has(extension) ? `.${extension}` : null;
}
