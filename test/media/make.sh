#!/usr/bin/env bash
# Makes the small media files of this folder with ffmpeg, from its own test pictures and tones.
# Every flag that writes a version, a date or a random number is off, so the same ffmpeg makes the same bytes.
set -euo pipefail
cd "$(dirname "$0")"

ff() { ffmpeg -hide_banner -loglevel error -y -threads 1 "$@"; }
exact=(-map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact)
h264=(-c:v libx264 -preset veryslow -crf 34 -pix_fmt yuv420p -threads 1 -x264-params threads=1)
aac=(-c:a aac -b:a 48k -ac 1)

# A clip as an editor exports it: index in front.
ff -f lavfi -i testsrc2=size=320x180:rate=25:duration=4 -f lavfi -i sine=frequency=440:duration=4 \
  "${h264[@]}" "${aac[@]}" "${exact[@]}" -movflags +faststart clip.mp4

# A camera's file: QuickTime, uncompressed sound, index at the end.
ff -f lavfi -i testsrc2=size=320x180:rate=30:duration=3 -f lavfi -i sine=frequency=220:sample_rate=16000:duration=3 \
  "${h264[@]}" -c:a pcm_s16le -ac 1 "${exact[@]}" camera.mov

# A recorded lecture: Matroska, slides that hardly change, a speaking tone.
ff -f lavfi -i smptebars=size=320x180:rate=10:duration=6 -f lavfi -i sine=frequency=180:duration=6 \
  -c:v libvpx-vp9 -crf 45 -b:v 0 -row-mt 0 -threads 1 -c:a libopus -b:a 24k -ac 1 "${exact[@]}" lecture.mkv

# An interview: sound only, with an ID3 tag.
ff -f lavfi -i "sine=frequency=300:duration=5" \
  -c:a libmp3lame -b:a 32k -ac 1 -ar 22050 "${exact[@]}" -metadata title="An interview" -id3v2_version 3 interview.mp3

# A phone held upright.
ff -f lavfi -i testsrc2=size=180x320:rate=30:duration=2 -f lavfi -i sine=frequency=660:duration=2 \
  "${h264[@]}" "${aac[@]}" "${exact[@]}" phone-vertical.mp4

# A transport stream, as a broadcast recorder writes it: with a time stamp before each packet (192 bytes).
# Not named .ts, which would make it a program to every tool of this project.
ff -f lavfi -i testsrc2=size=160x90:rate=25:duration=3 -f lavfi -i sine=frequency=500:duration=3 \
  "${h264[@]}" "${aac[@]}" "${exact[@]}" -mpegts_m2ts_mode 1 broadcast.m2ts

# A copy that broke off: the index promises more than there is.
head -c 30000 clip.mp4 > truncated.mp4

# The clip of the sandbox itself, as packages/sandbox/src/admin/samples.ts has it.
ff -f lavfi -i smptebars=size=320x180:rate=5:duration=3 -f lavfi -i sine=frequency=440:sample_rate=8000:duration=3 \
  -c:v libx264 -preset veryslow -crf 45 -g 100 -bf 0 -pix_fmt yuv420p -threads 1 -x264-params threads=1 -bsf:v filter_units=remove_types=6 \
  -c:a aac -b:a 6k -ac 1 "${exact[@]}" -movflags +faststart sandbox.mp4
base64 -w 112 sandbox.mp4
rm sandbox.mp4
