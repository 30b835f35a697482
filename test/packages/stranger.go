// Uploads a video and publishes it, with Go's standard library. Arguments: BASE_URL API_KEY FILE
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

type video struct {
	ID        string `json:"id"`
	UploadURL string `json:"upload_url"`
	Status    string `json:"status"`
	Duration  int    `json:"duration"`
}

func main() {
	baseURL, apiKey, path := os.Args[1], os.Args[2], os.Args[3]
	key := "Bearer " + apiKey

	var created video
	fields := `{"title":"By Go","channel_id":"ch_news"}`
	send("POST", baseURL+"/videos", key, "application/json", strings.NewReader(fields), int64(len(fields)), &created)

	file, err := os.Open(path)
	check(err)
	about, err := file.Stat()
	check(err)
	var receipt struct {
		Size int64 `json:"size"`
	}
	send("PUT", created.UploadURL, "", "application/octet-stream", file, about.Size(), &receipt)

	var found struct {
		Data video `json:"data"`
	}
	for found.Data.Status != "ready" && found.Data.Status != "failed" {
		time.Sleep(100 * time.Millisecond)
		send("GET", baseURL+"/videos/"+created.ID, key, "", nil, 0, &found)
	}

	var published struct {
		VideoCount int `json:"video_count"`
	}
	send("POST", baseURL+"/feeds/feed_news/publish", key, "", nil, 0, &published)

	result := map[string]any{
		"size": receipt.Size, "status": found.Data.Status, "duration": found.Data.Duration, "videos": published.VideoCount,
	}
	check(json.NewEncoder(os.Stdout).Encode(result))
}

func send(method, address, key, contentType string, body io.Reader, size int64, into any) {
	request, err := http.NewRequest(method, address, body)
	check(err)
	// Go sends a file of unknown size in chunks, which upload addresses refuse.
	request.ContentLength = size
	if key != "" {
		request.Header.Set("Authorization", key)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(response.Body)
		check(fmt.Errorf("%s %s: %s %s", method, address, response.Status, text))
	}
	check(json.NewDecoder(response.Body).Decode(into))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
